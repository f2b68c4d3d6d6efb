// Vega-Lite, Vega and the interpreter that evaluates expressions without eval.
export { compile } from "vega-lite";
export { locale, parse, View, Warn } from "vega";
export { expressionInterpreter } from "vega-interpreter";
