// The editor is built with what codemirror.js exports, which is not checked.
declare const library: any;
export = library;
