// SPDX-License-Identifier: MIT

/// Header or trailer fields in order, found by name without regard to case.
///
///     var headers: HTTPHeaders = [.accept: "application/json"]
///     headers[.ifNoneMatch] = "\"v1\""
///     headers.append(.cookie, "theme=dark")
///
/// Every field written is checked: names are tokens (RFC 9110 §5.6.2), values hold no CR, LF, NUL or other control
/// character except the tab, and lose white space at both ends. Writing never traps and never throws: a field that
/// fails the check is kept out, and the first such failure stays in ``problem``, with which sending throws.
/// Lookup walks the list, which is the fastest way for the few dozen fields of a message.
public struct HTTPHeaders: Sendable {
    private var fields: [HTTPField]
    private var remark: Remark?

    /// No fields.
    public init() {
        fields = []
    }

    /// The fields in their order, each checked.
    public init(_ fields: [HTTPField]) {
        self.fields = []
        append(contentsOf: fields)
    }

    /// The value of the named field, or `nil` without one.
    ///
    /// Several fields of a name are joined with ", " (RFC 9110 §5.3), Cookie with "; " (RFC 9113 §8.2.3). Set-Cookie
    /// cannot be joined: the first is given, all of them are in ``subscript(values:)``.
    /// Setting replaces the first field of the name in place and removes the others; `nil` removes them all.
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

    /// The values of all fields of the name, in order and never joined.
    public subscript(values name: HTTPField.Name) -> [String] {
        var values: [String] = []
        var next = firstIndex(of: name)
        while let index = next {
            values.append(fields[index].value)
            next = firstIndex(of: name, from: index + 1)
        }
        return values
    }

    /// The value of the first field of the name, whatever others there are.
    package func firstValue(_ name: HTTPField.Name) -> String? {
        firstIndex(of: name).map { fields[$0].value }
    }

    /// The first name that `matches`; nil if none does.
    package func firstName(where matches: (HTTPField.Name) -> Bool) -> HTTPField.Name? {
        fields.first { matches($0.name) }?.name
    }

    /// Why a field was refused; `nil` if all were good. Costs nothing to ask.
    public var problem: Problem? { remark?.problem }

    /// Declares fields as secrets, or as none, for descriptions of these headers: those that are there, and those that
    /// come.
    package mutating func declare(secret: Set<HTTPField.Name>, harmless: Set<HTTPField.Name>) {
        if remark == nil, secret.isEmpty, harmless.isEmpty { return }
        if let remark, remark.secret == secret, remark.harmless == harmless { return }
        remark = Remark(problem: remark?.problem, secret: secret, harmless: harmless)
    }

    /// Declares the same as of `other`.
    package mutating func declare(as other: HTTPHeaders) {
        declare(secret: other.remark?.secret ?? [], harmless: other.remark?.harmless ?? [])
    }

    /// Whether no text may show the values of a field: by what was declared, else by its name.
    package func isSecret(_ name: HTTPField.Name) -> Bool {
        name.isSecret(declared: remark?.isSecret(name))
    }

    /// Adds a field after the others, whatever names are there.
    public mutating func append(_ name: HTTPField.Name, _ value: String) {
        guard let value = checked(name, value) else { return }
        fields.append(HTTPField(name: name, value: value))
    }

    /// Adds fields after the others, each checked.
    public mutating func append(contentsOf others: some Sequence<HTTPField>) {
        for field in others { append(field.name, field.value) }
    }

    /// Adds another message's fields after the others, and its problem if there is none here.
    public mutating func append(contentsOf others: HTTPHeaders) {
        fields.append(contentsOf: others.fields)
        remark = Remark.joined(remark, others.remark)
    }

    /// Replaces the first field of the name in place and removes the others; adds the field if there is none.
    ///
    /// A value that is refused leaves the fields as they were.
    public mutating func set(_ name: HTTPField.Name, _ value: String) {
        guard let value = checked(name, value) else { return }
        let field = HTTPField(name: name, value: value)
        guard let first = firstIndex(of: name) else { return fields.append(field) }
        fields[first] = field
        guard firstIndex(of: name, from: first + 1) != nil else { return }
        fields = fields[...first] + fields[(first + 1)...].filter { $0.name != name }
    }

    /// Removes every field of the name.
    public mutating func remove(_ name: HTTPField.Name) {
        guard firstIndex(of: name) != nil else { return }
        fields.removeAll { $0.name == name }
    }

    /// Whether there is a field of the name.
    public func contains(_ name: HTTPField.Name) -> Bool {
        firstIndex(of: name) != nil
    }

    /// These fields and another message's.
    ///
    /// With `replacing`, a name that both have keeps only the other's fields; without it, only these. Use
    /// `append(contentsOf:)` to keep both. A problem of either side stays.
    public func merging(_ other: HTTPHeaders, replacing: Bool) -> HTTPHeaders {
        var result = self
        if replacing {
            result.fields.removeAll { other.contains($0.name) }
            result.fields += other.fields
        } else {
            result.fields += other.fields.filter { !contains($0.name) }
        }
        result.remark = Remark.joined(remark, other.remark)
        return result
    }

    /// Adds a field as it came from the wire, for a parser that has done its own checks.
    package mutating func appendUnchecked(name: String, value: String) {
        fields.append(HTTPField(name: HTTPField.Name(name), value: value))
    }

    /// Adds a field that was read before.
    package mutating func appendUnchecked(_ field: HTTPField) {
        fields.append(field)
    }

    /// Keeps the first fields only.
    package mutating func truncate(to count: Int) {
        fields.removeLast(Swift.max(0, fields.count - count))
    }

    /// Makes room for a known number of fields at once.
    package mutating func reserveCapacity(_ count: Int) {
        fields.reserveCapacity(count)
    }

    /// True when both are copies of one list. False says nothing: equal lists may stand in two places.
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
                // Nearly all names that differ differ in length, which costs no call and no reference.
                if fields[index].name.text.utf8.count == count, fields[index].name == name { return index }
                index += 1
            }
            return nil
        }
    }

    private mutating func checked(_ name: HTTPField.Name, _ value: String) -> String? {
        switch FieldRules.check(name, value) {
        case .good(let value): return value
        case .bad(let problem):
            if remark?.problem == nil {
                remark = Remark(problem: problem, secret: remark?.secret ?? [], harmless: remark?.harmless ?? [])
            }
            return nil
        }
    }

    /// Keeps what is rare out of line, so that headers are two words.
    private final class Remark: Sendable {
        let problem: Problem?
        let secret: Set<HTTPField.Name>
        let harmless: Set<HTTPField.Name>

        init(problem: Problem?, secret: Set<HTTPField.Name>, harmless: Set<HTTPField.Name>) {
            self.problem = problem
            self.secret = secret
            self.harmless = harmless
        }

        /// What was declared of a name; nil for nothing.
        func isSecret(_ name: HTTPField.Name) -> Bool? {
            secret.contains(name) ? true : harmless.contains(name) ? false : nil
        }

        static func joined(_ left: Remark?, _ right: Remark?) -> Remark? {
            guard let left, let right else { return left ?? right }
            return Remark(
                problem: left.problem ?? right.problem, secret: left.secret.union(right.secret),
                harmless: left.harmless.union(right.harmless))
        }
    }
}

extension HTTPHeaders: RandomAccessCollection {
    /// Always 0.
    public var startIndex: Int { 0 }
    /// The number of fields.
    public var endIndex: Int { fields.count }

    /// The field at a position, in the order written.
    public subscript(position: Int) -> HTTPField {
        let field = fields[position]
        guard let remark else { return field }
        return HTTPField(name: field.name, value: field.value, isDeclaredSecret: remark.isSecret(field.name))
    }
}

extension HTTPHeaders: ExpressibleByDictionaryLiteral {
    /// The pairs in their order; a name may repeat.
    public init(dictionaryLiteral elements: (HTTPField.Name, String)...) {
        self.init()
        for (name, value) in elements { append(name, value) }
    }
}

extension HTTPHeaders: Equatable {
    /// Equal when each name has the same values in the same order; how names interleave does not count.
    public static func == (left: HTTPHeaders, right: HTTPHeaders) -> Bool {
        guard left.count == right.count, left.problem == right.problem else { return false }
        if left.fields == right.fields { return true }
        return left.fields.allSatisfy { field in
            left.fields.lazy.filter { $0.name == field.name }.map(\.value)
                .elementsEqual(right.fields.lazy.filter { $0.name == field.name }.map(\.value))
        }
    }
}

extension HTTPHeaders: CustomStringConvertible {
    /// One "Name: value" a line; the values of sensitive fields are not shown.
    public var description: String {
        map(\.description).joined(separator: "\n")
    }
}

extension HTTPHeaders: CustomReflectable {
    /// Shows the fields, to debuggers and `dump` too; not the values of sensitive ones.
    public var customMirror: Mirror { Mirror(self, unlabeledChildren: Array(self), displayStyle: .collection) }
}
