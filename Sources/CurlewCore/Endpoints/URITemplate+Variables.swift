// SPDX-License-Identifier: MIT

public import CurlewHTTP

extension URITemplate {
    /// The variables of a template that is expanded for a request: `["owner": owner, "page": page, "labels": labels]`.
    ///
    /// Values are `QueryValue`s, under the rules of `QueryItems`: nil and an empty list are omitted. An associative array
    /// is a `Value`: `["filter": URITemplate.Value.pairs([…])]`. If a literal repeats a name, the last value is used.
    public struct Variables: Sendable, ExpressibleByDictionaryLiteral {
        private(set) var values: [String: URITemplate.Value] = [:]

        /// Creates variables without values.
        public init() {}

        /// Creates variables from a literal. Nil values are omitted.
        public init(dictionaryLiteral elements: (String, (any QueryValue)?)...) {
            for (name, value) in elements { self[name] = value }
        }

        /// The value of a variable; nil if it has none. Reading returns a `Value`.
        public subscript(name: String) -> (any QueryValue)? {
            get { values[name] }
            set {
                guard let texts = newValue?.queryTexts, let first = texts.first else {
                    values[name] = nil
                    return
                }
                values[name] = newValue as? URITemplate.Value ?? (texts.count == 1 ? .text(first) : .list(texts))
            }
        }
    }
}

extension URITemplate.Value: QueryValue {
    /// The text, the elements of the list, or the names and values of the array in turn.
    public var queryTexts: [String] { texts }
}
