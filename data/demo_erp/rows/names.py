"""Names of people and places, by the region where they are usual."""

from __future__ import annotations

import random
import unicodedata

GIVEN = {
    "NOR": "Astrid Bjorn Elin Freja Gustav Henrik Ingrid Johan Karin Lars Maja Nils Oskar Sigrid "
    "Tove Erik Linnea Anders Solveig Mikkel",
    "DACH": "Anna Bernd Clara Dieter Eva Florian Greta Hannes Ines Jonas Katrin Lukas Martina Nico "
    "Petra Ralf Sabine Tobias Ulrike Volker Paul Lena Stefan Heike Moritz",
    "WEU": "Alice Bram Chloe Daan Eloise Fergus Gemma Hugo Isla Julien Kate Louis Manon Niall "
    "Orla Pieter Rosie Sander Thomas Wout Camille Harriet",
    "SEU": "Alba Bruno Carla Diego Elena Fabio Giulia Hector Irene Jorge Lucia Marco Nuria Paolo "
    "Rita Sergio Teresa Ugo Valeria Xavier",
    "NAM": "Aaron Brooke Caleb Dana Ethan Faith Grant Hailey Ian Jasmine Kyle Lauren Mason Nora "
    "Owen Paige Reid Shelby Tyler Vanessa Marcus Denise",
    "LAM": "Ana Benicio Camila Davi Esteban Fernanda Gabriel Helena Ivan Juliana Luana Mateus "
    "Paloma Rafael Sofia Thiago Ximena Caio",
    "JPK": "Aiko Daichi Emi Haruto Jiho Kenji Mei Minseo Naoki Riko Seoyeon Sora Takumi Yuna Yuto "
    "Hana Jun Minjun",
    "ANZ": "Amelia Blake Charlotte Dylan Ella Finn Georgia Harvey Imogen Jack Keira Lachlan "
    "Matilda Noah Ruby Tane Zoe Angus",
}

FAMILY = {
    "NOR": "Ahlberg Bakke Dahl Ekstrand Fossum Granholm Hagen Isaksen Kvist Lindqvist Moberg "
    "Nordby Rasmussen Solheim Strand Thorsen Wiklund Aas Bergdahl Holst",
    "DACH": "Achleitner Brandl Dorfner Eberle Feichtinger Gruber Haas Imhof Jost Kessler Lindemann "
    "Moser Neubauer Oberholzer Pichler Reiter Sauter Thaler Urban Vogt Wieland Zeller Brunner",
    "WEU": "Ashworth Bakker Carver Dubois Everett Fontaine Gallagher Hendriks Jansen Kerr Lambert "
    "Mercier Nolan Peeters Quinn Renaud Smit Tremblay Visser Whitlock",
    "SEU": "Alonso Bianchi Costa Duarte Esposito Ferrer Gallo Ibanez Lombardi Marchetti Navarro "
    "Oliveri Pereira Romano Santoro Torres Vidal Zanetti",
    "NAM": "Abbott Bishop Chambers Delgado Ellison Fletcher Garrison Holloway Ingram Jennings "
    "Kowalski Lockhart Mercer Norwood Prescott Ramsey Sutton Thornton Whitaker Yates",
    "LAM": "Acosta Barros Cardoso Dominguez Escobar Figueroa Guerra Junqueira Lozano Moreira "
    "Nogueira Paredes Quintero Rocha Salazar Teixeira",
    "JPK": "Arai Choi Fujimoto Han Ishikawa Jung Kato Kim Lee Mori Nakagawa Okada Park Saito Shin "
    "Tanabe Ueda Yoon",
    "ANZ": "Aitken Barlow Cameron Drummond Fairweather Gibbs Hargreaves Kingi Lawson McLeod "
    "Ngata Paterson Rowe Sinclair Tawhai Wakefield",
}

COUNTRIES: tuple[tuple[str, str, str, str, str], ...] = (
    ("SE", "Sweden", "NOR", "SEK", "Uppsala Malmo Vasteras Lund Kalmar"),
    ("NO", "Norway", "NOR", "NOK", "Bergen Trondheim Stavanger Tromso"),
    ("DK", "Denmark", "NOR", "DKK", "Aarhus Odense Aalborg Esbjerg"),
    ("FI", "Finland", "NOR", "EUR", "Tampere Turku Oulu"),
    ("DE", "Germany", "DACH", "EUR", "Ulm Freiburg Leipzig Bremen Kassel Regensburg Mainz Kiel"),
    ("AT", "Austria", "DACH", "EUR", "Graz Linz Salzburg Innsbruck"),
    ("CH", "Switzerland", "DACH", "CHF", "Bern Basel Luzern Winterthur"),
    ("PL", "Poland", "DACH", "PLN", "Gdansk Poznan Krakow Lodz"),
    ("CZ", "Czechia", "DACH", "CZK", "Brno Plzen Olomouc"),
    ("NL", "Netherlands", "WEU", "EUR", "Utrecht Groningen Eindhoven Arnhem Breda"),
    ("BE", "Belgium", "WEU", "EUR", "Gent Leuven Namur"),
    ("FR", "France", "WEU", "EUR", "Lyon Nantes Grenoble Rennes Annecy Lille"),
    ("GB", "United Kingdom", "WEU", "GBP", "Bristol York Leeds Exeter Edinburgh"),
    ("IE", "Ireland", "WEU", "EUR", "Cork Galway"),
    ("IT", "Italy", "SEU", "EUR", "Bologna Verona Torino Trento Bari"),
    ("ES", "Spain", "SEU", "EUR", "Valencia Bilbao Girona Sevilla"),
    ("PT", "Portugal", "SEU", "EUR", "Porto Braga Faro"),
    ("US", "United States", "NAM", "USD", "Portland Boulder Madison Burlington Asheville Tucson"),
    ("CA", "Canada", "NAM", "CAD", "Victoria Halifax Ottawa Calgary"),
    ("BR", "Brazil", "LAM", "BRL", "Curitiba Campinas Florianopolis"),
    ("MX", "Mexico", "LAM", "MXN", "Puebla Queretaro Merida"),
    ("JP", "Japan", "JPK", "JPY", "Kyoto Sapporo Fukuoka Sendai"),
    ("KR", "South Korea", "JPK", "KRW", "Daegu Daejeon Suwon"),
    ("AU", "Australia", "ANZ", "AUD", "Adelaide Hobart Perth Newcastle"),
    ("NZ", "New Zealand", "ANZ", "NZD", "Nelson Dunedin Hamilton"),
    ("TW", "Taiwan", "JPK", "TWD", "Taichung Tainan"),
    ("CN", "China", "JPK", "CNY", "Kunshan Tianjin"),
)
"""Code, name, region code, currency, cities."""

SHOP_FORMS = {
    "SE": ("{city} Cykel AB", "{family} Cykelbutik AB"),
    "NO": ("{city} Sykkel AS", "{family} Sykkelservice AS"),
    "DK": ("{city} Cykler ApS", "{family} Cykelhandel ApS"),
    "FI": ("{city} Pyora Oy",),
    "DE": ("Radhaus {city} GmbH", "Zweirad {family} GmbH", "{family} Fahrrad KG", "Velo {city} eG"),
    "AT": ("{family} Radsport GmbH", "Radstall {city} GmbH"),
    "CH": ("Velo {family} AG", "{city} Velos AG"),
    "PL": ("Rowery {city} Sp. z o.o.",),
    "CZ": ("Kola {city} s.r.o.",),
    "NL": ("{family} Fietsen BV", "Fietshuis {city} BV", "{city} Tweewielers BV"),
    "BE": ("{family} Velos NV", "Fietsatelier {city} BV"),
    "FR": ("Cycles {family} SARL", "Velo Atelier {city} SAS", "{city} Mobilite SAS"),
    "GB": ("{family} Cycles Ltd", "{city} Bike Company Ltd", "{family} & Son Ltd"),
    "IE": ("{city} Cycle Works Ltd",),
    "IT": ("Cicli {family} Srl", "{city} Bici Srl"),
    "ES": ("Bicicletas {family} SL", "Ciclos {city} SL"),
    "PT": ("Bicicletas {city} Lda",),
    "US": ("{city} Bike Works Inc", "{family} Cycle Co", "{family} Outfitters LLC"),
    "CA": ("{city} Cyclery Inc", "{family} Sports Ltd"),
    "BR": ("Bike {city} Ltda", "{family} Bicicletas Ltda"),
    "MX": ("Ciclos {city} SA", "{family} Bicis SA"),
    "JP": ("{city} Jitensha KK", "{family} Cycle KK"),
    "KR": ("{city} Bike Co Ltd",),
    "AU": ("{city} Cyclery Pty Ltd", "{family} Bikes Pty Ltd"),
    "NZ": ("{city} Cycles Ltd", "{family} Bikes Ltd"),
    "TW": ("{city} Sports Ltd",),
    "CN": ("{city} Cycling Ltd",),
}

STREETS = (
    "Station Road",
    "Market Street",
    "Mill Lane",
    "Harbour Street",
    "Church Street",
    "Park Avenue",
    "Canal Street",
    "Garden Road",
    "School Lane",
    "Bridge Street",
    "Industrial Way",
    "North Ring",
)


def person(rng: random.Random, region: str) -> tuple[str, str]:
    """Return a given and a family name usual in ``region``."""
    return rng.choice(GIVEN[region].split()), rng.choice(FAMILY[region].split())


def plain(text: str) -> str:
    """Return ``text`` as it may stand in an e-mail address.

    >>> plain("Mc Leod")
    'mcleod'
    """
    ascii_text = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    return "".join(c for c in ascii_text.lower() if c.isalnum() or c == ".")
