// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewFoundation
import CurlewHTTP

/// The request fields that keep a cache from being used: they are not known to be harmless, so that their values are a
/// part of the principal, and these values change from call to call.
///
/// Only lookups that find nothing are noted, so that a response from memory costs nothing more.
final class ChangingFields: Sendable {
    private struct Field: Sendable {
        var value: Int
        var changes = 0
    }

    /// The number of changes in a row, without a response from the cache, after which a field is named.
    static let limit = 8
    private static let maximumNames = 32

    private let fields = Locked<[HTTPField.Name: Field]>([:])

    /// The names of the fields that have changed often enough, in order.
    var names: [String] {
        fields.withLock { $0.filter { $0.value.changes >= Self.limit }.map(\.key.text).ordered(by: <) }
    }

    /// Notes the fields of a request for which nothing was found. Returns the reason to report.
    func missed(_ headers: HTTPHeaders, _ rules: Redaction.Rules) -> CacheReason {
        let unknown = headers.filter { !rules.isHarmless($0.name) && !headers.isSecret($0.name) }
        if unknown.isEmpty { return .nothingStored }
        fields.withLock { fields in
            for field in unknown where fields[field.name] != nil || fields.count < Self.maximumNames {
                var known = fields[field.name] ?? Field(value: field.value.hashValue)
                known.changes = known.value == field.value.hashValue ? 0 : known.changes + 1
                known.value = field.value.hashValue
                fields[field.name] = known
            }
        }
        let names = names.filter { headers.contains(HTTPField.Name($0)) }
        return names.isEmpty ? .nothingStored : .fieldsChange(names)
    }

    /// Forgets all fields, because a response was found.
    func found() {
        fields.withLock { if !$0.isEmpty { $0 = [:] } }
    }
}
