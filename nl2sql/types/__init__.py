"""The values that the stages exchange: frozen, slotted dataclasses that hold tuples.

They have no behaviour beyond derived properties and cross process boundaries by pickle. The models
that cross HTTP are in ``quorumsql.contract``.
"""

from __future__ import annotations

from nl2sql.types.access import Access, UsageLimits
from nl2sql.types.browsing import (
    ColumnDetails,
    Neighbour,
    TableDetails,
    TableEntry,
    TablePage,
)
from nl2sql.types.conversation import AnswerText, Intent, Rewriting, Turn
from nl2sql.types.execution import (
    NOT_PERMITTED,
    Diagnostic,
    ExecutionLimits,
    Explained,
    GuardedQuery,
    ResultSet,
    SessionIdentity,
    Violation,
)
from nl2sql.types.feedback import Feedback, FeedbackOutcome, FeedbackReceipt
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
from nl2sql.types.progress import (
    CandidateAssessed,
    Progress,
    QuestionEvent,
    RepairTried,
    RowsFetched,
    VoteCounted,
)
from nl2sql.types.question import (
    AttributeValue,
    Principal,
    Question,
    Scalar,
)
from nl2sql.types.ranking import (
    REQUIRED_UNREAD,
    Assessment,
    Finding,
    Interpretation,
    Ranking,
    Repair,
    Score,
    ScoreTerm,
)
from nl2sql.types.schema import (
    VALUES_MARK,
    Definition,
    DefinitionKind,
    FewShot,
    JoinPath,
    JoinPlan,
    ModuleRoute,
    Plan,
    RetrievedTable,
    SchemaContext,
    SchemaLink,
    SchemaLinks,
    TableDescriptions,
    ValueMatch,
)

__all__ = [
    "NOT_PERMITTED",
    "REQUIRED_UNREAD",
    "VALUES_MARK",
    "Access",
    "AnswerText",
    "Assessment",
    "AttributeValue",
    "Candidate",
    "CandidateAssessed",
    "ColumnDetails",
    "Completions",
    "Contents",
    "Definition",
    "DefinitionKind",
    "Diagnostic",
    "DraftQuery",
    "ExecutionLimits",
    "Explained",
    "Feedback",
    "FeedbackOutcome",
    "FeedbackReceipt",
    "FewShot",
    "Finding",
    "Generated",
    "GuardedQuery",
    "Intent",
    "Interpretation",
    "JoinPath",
    "JoinPlan",
    "Message",
    "ModuleRoute",
    "Neighbour",
    "Plan",
    "Principal",
    "Progress",
    "Prompt",
    "Question",
    "QuestionEvent",
    "Ranking",
    "Repair",
    "RepairTried",
    "ResultSet",
    "RetrievedTable",
    "Rewriting",
    "RowsFetched",
    "SamplingRequest",
    "Scalar",
    "SchemaContext",
    "SchemaLink",
    "SchemaLinks",
    "Score",
    "ScoreTerm",
    "SessionIdentity",
    "TableDescriptions",
    "TableDetails",
    "TableEntry",
    "TablePage",
    "Turn",
    "UsageLimits",
    "ValueMatch",
    "Violation",
    "VoteCounted",
]
