// SPDX-License-Identifier: MIT

/// An ordered list of header or trailer fields with case-insensitive lookup by name.
///
///     var headers: HTTPHeaders = [.accept: "application/json"]
///     headers[.ifNoneMatch] = "\"v1\""
///     headers.append(.cookie, "theme=dark")
///
/// Every added field is validated: names must be tokens (RFC 9110 §5.6.2), and values must not contain CR, LF, NUL or
/// other control characters except the tab. White space at both ends of a value is removed. Adding a field never traps
/// and never throws. An invalid field is not added; the headers keep the reason why the first one was rejected, and a
/// request with these headers throws `.invalidRequest` with this reason when it is sent.
///
/// Lookup is a linear search, which is fastest for the few dozen fields of a message.
public struct HTTPHeaders: RandomAccessCollection, Sendable {
    private var fields: [HTTPField]
    private var declarations: Declarations?

    /// Creates an empty list.
    public init() {
        fields = []
    }

    /// Creates a list of these fields, in order. Invalid fields are omitted: the request throws when it is sent.
    public init(_ fields: [HTTPField]) {
        self.fields = []
        append(contentsOf: fields)
    }

    /// The value of the named field, or `nil` if there is none.
    ///
    /// The values of several fields with the same name are joined with ", " (RFC 9110 §5.3), or with "; " for Cookie
    /// (RFC 9113 §8.2.3). Set-Cookie fields cannot be joined: the first value is returned, and ``subscript(values:)``
    /// returns all of them.
    ///
    /// Setting a value follows the rules of ``set(_:_:)``. Setting `nil` removes all fields with the name.
    public subscript(name: HTTPField.Name) -> String? {
        get {
            guard let first = firstIndex(of: name) else { return nil }
            guard let second = firstIndex(of: name, from: first + 1), name != .setCookie else {
                return fields[first].value
            }
            var joined = fields[first].value
            for field in fields[second...] where field.name == name {
                joined += (name == .cookie ? "; " : ", ") + field.value
            }
            return joined
        }
        set {
            if let newValue { set(name, newValue) } else { remove(name) }
        }
    }

    /// The values of all fields with this name, in order and not joined.
    public subscript(values name: HTTPField.Name) -> [String] {
        var values: [String] = []
        var next = firstIndex(of: name)
        while let index = next {
            values.append(fields[index].value)
            next = firstIndex(of: name, from: index + 1)
        }
        return values
    }

    /// Returns the first field that `matches`, or nil if none does. Faster than a loop in another module.
    package func first(where matches: (HTTPField) -> Bool) -> HTTPField? { fields.first(where: matches) }

    /// The reason why the first invalid field was rejected; `nil` if all fields were valid. Reading it takes constant
    /// time.
    package var problem: Problem? { declarations?.problem }

    /// Declares which fields, present and future, the descriptions of these headers treat as secret or not secret; a
    /// field in both sets is secret. Replaces the previous declarations.
    package mutating func declare(secret: Set<HTTPField.Name>, harmless: Set<HTTPField.Name>) {
        if declarations == nil, secret.isEmpty, harmless.isEmpty { return }
        if let declarations, declarations.secret == secret, declarations.harmless == harmless { return }
        declarations = Declarations(problem: declarations?.problem, secret: secret, harmless: harmless)
    }

    /// Replaces the declarations of secret and harmless fields with those of `other`.
    package mutating func declare(as other: HTTPHeaders) {
        declare(secret: other.declarations?.secret ?? [], harmless: other.declarations?.harmless ?? [])
    }

    /// Returns whether descriptions must omit the values of a field: its declaration decides or, if there is none, its
    /// name. Credentials are always secret.
    package func isSecret(_ name: HTTPField.Name) -> Bool {
        name.isSecret(declared: declarations?.isSecret(name))
    }

    /// Appends a field, even if fields with this name exist. An invalid field is not appended: the request throws when
    /// it is sent.
    public mutating func append(_ name: HTTPField.Name, _ value: String) {
        guard let value = checked(name, value) else { return }
        fields.append(HTTPField(name: name, value: value))
    }

    /// Appends fields in order. Invalid fields are not appended: the request throws when it is sent.
    public mutating func append(contentsOf others: some Sequence<HTTPField>) {
        for field in others { append(field.name, field.value) }
    }

    /// Appends the fields of `others`. If a field of either list was rejected, a request with the result throws when it
    /// is sent.
    public mutating func append(contentsOf others: HTTPHeaders) {
        fields.append(contentsOf: others.fields)
        declarations = Declarations.joined(declarations, others.declarations)
    }

    /// Replaces the first field with this name in place and removes the others, or appends the field if there is none.
    ///
    /// If the name or the value is invalid, the fields are unchanged, and the request throws when it is sent.
    public mutating func set(_ name: HTTPField.Name, _ value: String) {
        guard let value = checked(name, value) else { return }
        let field = HTTPField(name: name, value: value)
        guard let first = firstIndex(of: name) else { return fields.append(field) }
        fields[first] = field
        guard firstIndex(of: name, from: first + 1) != nil else { return }
        fields = fields[...first] + fields[(first + 1)...].filter { $0.name != name }
    }

    /// Removes all fields with this name.
    public mutating func remove(_ name: HTTPField.Name) {
        guard firstIndex(of: name) != nil else { return }
        fields.removeAll { $0.name == name }
    }

    /// Returns whether a field with this name exists.
    public func contains(_ name: HTTPField.Name) -> Bool {
        firstIndex(of: name) != nil
    }

    /// Returns these fields combined with the fields of another message.
    ///
    /// If a name occurs in both, `replacing: true` keeps only the fields of `other`, and `replacing: false` keeps only
    /// the fields of this list. Use `append(contentsOf:)` to keep both. If a field of either list was
    /// rejected, a request with the result throws when it is sent.
    public func merging(_ other: HTTPHeaders, replacing: Bool) -> HTTPHeaders {
        var result = self
        if replacing {
            result.fields.removeAll { other.contains($0.name) }
            result.fields += other.fields
        } else {
            result.fields += other.fields.filter { !contains($0.name) }
        }
        result.declarations = Declarations.joined(declarations, other.declarations)
        return result
    }

    /// Appends a field that a parser or another list has already validated.
    package mutating func appendUnchecked(_ field: HTTPField) {
        fields.append(field)
    }

    package mutating func reserveCapacity(_ count: Int) {
        fields.reserveCapacity(count)
    }

    /// Returns whether both lists share the same storage. If false, the lists may still be equal.
    package func isCopy(of other: HTTPHeaders) -> Bool {
        fields.withUnsafeBufferPointer { fields in
            other.fields.withUnsafeBufferPointer { $0.baseAddress == fields.baseAddress && $0.count == fields.count }
        }
    }

    private func firstIndex(of name: HTTPField.Name, from start: Int = 0) -> Int? {
        let count = name.text.utf8.count
        return fields.withUnsafeBufferPointer { fields in
            var index = start
            while index < fields.count {
                // Most names that differ also differ in length. Comparing the lengths needs no call and no reference
                // counting.
                if fields[index].name.text.utf8.count == count, fields[index].name == name { return index }
                index += 1
            }
            return nil
        }
    }

    private mutating func checked(_ name: HTTPField.Name, _ value: String) -> String? {
        do {
            return try FieldSyntax.check(name, value)
        } catch {
            if declarations?.problem == nil {
                declarations = Declarations(
                    problem: error, secret: declarations?.secret ?? [], harmless: declarations?.harmless ?? [])
            }
            return nil
        }
    }

    /// The rarely used state of the headers, stored out of line so that `HTTPHeaders` occupies two machine words.
    private final class Declarations: Sendable {
        let problem: Problem?
        let secret: Set<HTTPField.Name>
        let harmless: Set<HTTPField.Name>

        init(problem: Problem?, secret: Set<HTTPField.Name>, harmless: Set<HTTPField.Name>) {
            self.problem = problem
            self.secret = secret
            self.harmless = harmless
        }

        /// Returns the declaration for a name: true if it is secret, false if it is not, nil if there is none.
        func isSecret(_ name: HTTPField.Name) -> Bool? {
            secret.contains(name) ? true : harmless.contains(name) ? false : nil
        }

        static func joined(_ left: Declarations?, _ right: Declarations?) -> Declarations? {
            guard let left, let right else { return left ?? right }
            return Declarations(
                problem: left.problem ?? right.problem, secret: left.secret.union(right.secret),
                harmless: left.harmless.union(right.harmless))
        }
    }

    /// The position of the first field, which is always 0.
    public var startIndex: Int { 0 }
    /// The position after the last field, which is the number of fields.
    public var endIndex: Int { fields.count }

    /// The field at a position, in order of insertion. The position must be valid.
    public subscript(position: Int) -> HTTPField {
        let field = fields[position]
        guard let declarations else { return field }
        return HTTPField(name: field.name, value: field.value, isDeclaredSecret: declarations.isSecret(field.name))
    }
}

extension HTTPHeaders: ExpressibleByDictionaryLiteral, Equatable, CustomStringConvertible, CustomReflectable {
    /// Creates a list from name–value pairs, in order. Names may repeat.
    public init(dictionaryLiteral elements: (HTTPField.Name, String)...) {
        self.init()
        for (name, value) in elements { append(name, value) }
    }

    /// Returns whether each name has the same values in the same order, and both lists have rejected no field or the
    /// same one first. The relative order of fields with different names is ignored.
    public static func == (left: HTTPHeaders, right: HTTPHeaders) -> Bool {
        guard left.count == right.count, left.problem == right.problem else { return false }
        if left.fields == right.fields { return true }
        return left.fields.allSatisfy { field in
            left.fields.lazy.filter { $0.name == field.name }.map(\.value)
                .elementsEqual(right.fields.lazy.filter { $0.name == field.name }.map(\.value))
        }
    }

    /// The fields, one "Name: value" per line. Secret values are redacted.
    public var description: String {
        map(\.description).joined(separator: "\n")
    }

    /// A mirror that shows the fields with secret values redacted, so that a dump contains no secret.
    public var customMirror: Mirror { Mirror(self, unlabeledChildren: Array(self), displayStyle: .collection) }
}
