"""The values that the stages exchange: frozen, slotted dataclasses that hold tuples.

They have no behaviour beyond derived properties and cross process boundaries by pickle. The models
that cross HTTP are in ``quorumsql.contract``.
"""

from __future__ import annotations

from nl2sql.types.execution import (
    NO_TURN,
    NOT_PERMITTED,
    QUERY_CANCELED,
    TOO_COMPLEX,
    Diagnostic,
    ExecutionLimits,
    Explained,
    GuardedQuery,
    ResultSet,
    SessionIdentity,
    Violation,
)
from nl2sql.types.generation import (
    Candidate,
    Completions,
    Contents,
    DraftQuery,
    Generated,
    Message,
    Prompt,
    SamplingRequest,
)
from nl2sql.types.question import (
    AnswerText,
    AttributeValue,
    Entitlement,
    Intent,
    Principal,
    Question,
    Rewriting,
    Scalar,
    TrialFix,
    Turn,
    UsageLimits,
)
from nl2sql.types.ranking import (
    Assessment,
    Display,
    Finding,
    Interpretation,
    Progress,
    Ranking,
    Repair,
    Score,
    ScoreTerm,
)
from nl2sql.types.schema import (
    VALUES_MARK,
    CatalogQuery,
    Definition,
    DefinitionKind,
    FewShot,
    JoinPlan,
    ModuleRoute,
    Plan,
    RetrievedTable,
    SchemaContext,
    SchemaLink,
    ValueMatch,
    VerifiedQuery,
    spell_value,
)
