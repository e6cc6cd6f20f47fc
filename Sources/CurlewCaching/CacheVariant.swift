// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewFoundation
import CurlewHTTP

/// The request fields that select a representation, as a string that is equal for equivalent fields (RFC 9111 §4.1).
enum CacheVariant {
    /// The maximum number of bytes of the string. A hash replaces a longer string.
    private static let maximumLength = 512

    /// Returns the names in `Vary`, in lower case and sorted; nil for `*` and for a value that is not a list of names.
    static func names(_ headers: HTTPHeaders) -> [String]? {
        guard let vary = headers[.vary] else { return [] }
        var names: Set<String> = []
        for member in vary.parts(",") {
            let name = member.trimmed().lowercased()
            if name.isEmpty { continue }
            guard name != "*", HTTPField.Name(name).isValid else { return nil }
            names.insert(name)
        }
        return names.sorted()
    }

    private static let lists: Set<String> = [
        "accept", "accept-charset", "accept-encoding", "accept-language", "prefer",
    ]

    /// Returns the secondary key (RFC 9111 §4.1) for a request and the `Vary` of a response; nil if the response never
    /// matches another request.
    static func text(for request: HTTPHeaders, _ response: HTTPHeaders) -> String? {
        guard let names = names(response) else { return nil }
        if names.isEmpty { return "" }
        var isSecret = false
        var text = ""
        for name in names {
            let field = HTTPField.Name(name)
            isSecret = isSecret || request.isSecret(field)
            text += name
            // An absent field matches only an absent field.
            if request.contains(field) {
                let value = normalised(request[values: field], name)
                text += "=\(value.utf8.count):\(value)"
            }
            text += "\n"
        }
        return isSecret || text.utf8.count > maximumLength ? MessageDigest.sha256(Data(text.utf8)).hexText : text
    }

    /// Returns the value of a field in a form that is equal for equivalent values (RFC 9111 §4.1). In fields that are
    /// known to be lists, white space around separators is removed, and case and order are ignored where the field
    /// allows it. In other fields white space may be a part of the value.
    private static func normalised(_ lines: [String], _ name: String) -> String {
        let value = lines.joined(separator: ", ")
        guard lists.contains(name), !value.holds("\"") else { return value }
        let members = value.parts(",").map { member in
            member.parts(";", keepingEmpty: true).map { $0.trimmed() }.joined(separator: ";")
        }.filter { !$0.isEmpty }
        switch name {
        case "accept-encoding", "accept-charset": return members.map { $0.lowercased() }.sorted().joined(separator: ",")
        case "accept-language": return members.map { $0.lowercased() }.joined(separator: ",")
        case "accept": return members.sorted().joined(separator: ",")
        default: return members.joined(separator: ",")
        }
    }
}
