export {EditorState, StateEffect, Compartment} from "@codemirror/state";
export {EditorView, keymap, lineNumbers, highlightActiveLine, highlightActiveLineGutter, drawSelection} from "@codemirror/view";
export {defaultKeymap, history, historyKeymap, indentWithTab} from "@codemirror/commands";
export {syntaxHighlighting, HighlightStyle, foldGutter, foldKeymap, indentOnInput, bracketMatching, indentUnit} from "@codemirror/language";
export {xml} from "@codemirror/lang-xml";
export {json} from "@codemirror/lang-json";
export {setDiagnostics, lintGutter} from "@codemirror/lint";
export {tags} from "@lezer/highlight";
