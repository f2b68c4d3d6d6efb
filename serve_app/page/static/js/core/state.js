/**
 * What the page knows of the principal, and how it forgets all of it.
 *
 * Every module that keeps data of the service registers with `onForget`; signing out calls them all.
 */

import { batch, computed, signal } from "../../vendor/preact.js";
import { connection, load, onSignedOut, Problem, requestJson } from "./api.js";
import { replace, route } from "./router.js";

/** The answer of GET /me; null before it is known and after signing out. */
export const me = signal(null);
/** `starting`, `in`, `out`, or a Problem where the start failed. */
export const phase = signal("starting");
/** The ways to sign in that the service offers. */
export const methods = signal([]);
/** Why the sign-in is asked for; empty at first. */
export const farewell = signal("");
export const databases = signal([]);
/** The name of the database that is asked. */
export const database = signal("");
/** The service is waited for at the start. @type {import("../../vendor/preact.js").Signal<Problem|null>} */
export const waiting = signal(null);

export const rights = computed(() => me.value?.rights ?? { review: false });
export const dialect = computed(() => databases.value.find((one) => one.name === database.value)?.dialect ?? "");

const forgetters = new Set();
/** Registers what clears the data of a module. */
export function onForget(clear) {
  forgetters.add(clear);
}

const channel = new BroadcastChannel("quorumsql");
channel.onmessage = ({ data }) => {
  if (data === "signed-out") forget("You signed out in another tab.");
  if (data === "signed-in") {
    forget("");
    start();
  }
};

/** Clears everything that came from the service, and asks to sign in. */
export function forget(reason) {
  batch(() => {
    for (const clear of forgetters) clear();
    me.value = null;
    databases.value = [];
    database.value = "";
    farewell.value = reason;
    phase.value = "out";
  });
  document.title = "QuorumSQL";
  if (route.value.name === "c") replace("ask");
}

onSignedOut(() => {
  const wasIn = phase.value === "in";
  forget(wasIn ? "Your sign-in has ended. Sign in again to go on." : farewell.value);
  if (wasIn) channel.postMessage("signed-out");
});

/** Reads how one can sign in. */
export async function readMethods() {
  try {
    methods.value = (await load("sign-in", { quiet: true })).methods;
  } catch {
    methods.value = ["key"];
  }
}

/** Reads who asks and what can be asked. */
export async function start() {
  phase.value = "starting";
  const notify = (problem) => (waiting.value = problem);
  try {
    const person = await load("me", { notify });
    const list = await load("databases", { notify });
    batch(() => {
      me.value = person;
      databases.value = list.databases;
      database.value = (list.databases.find((one) => one.is_default) ?? list.databases[0])?.name ?? "";
      phase.value = "in";
    });
  } catch (error) {
    if (error instanceof Problem && error.status === 401) phase.value = "out";
    else phase.value = error;
  }
}

/** Signs in with a key or token. Throws Problem. */
export async function signIn(token) {
  await requestJson("sign-in", { method: "POST", body: { token }, quiet: true });
  farewell.value = "";
  channel.postMessage("signed-in");
  await start();
}

/** Signs out here, or everywhere. Throws Problem, and then nothing is signed out. */
export async function signOut(everywhere) {
  await requestJson("sign-out", { method: "POST", body: { everywhere }, quiet: true });
  channel.postMessage("signed-out");
  forget(everywhere ? "You are signed out everywhere." : "You are signed out.");
  replace("ask");
}

// Another tab may have signed in as somebody else while this one was in the background.
let checkedAt = Date.now();
document.addEventListener("visibilitychange", check);
addEventListener("pageshow", (event) => event.persisted && check(true));

async function check(always) {
  if (phase.value !== "in" || document.visibilityState !== "visible" || connection.value !== "ok") return;
  if (always !== true && Date.now() - checkedAt < 30_000) return;
  checkedAt = Date.now();
  await refreshMe();
}

/** Reads anew who asks, and the limits, of which a question has used some. */
export async function refreshMe() {
  try {
    const person = await requestJson("me");
    if (!me.value) return;
    if (person.name === me.value.name) me.value = person;
    else {
      forget("");
      await start();
    }
  } catch {
    // A 401 has signed out already; after any other failure, what is shown stays.
  }
}
