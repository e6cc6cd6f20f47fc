// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP
import CurlewRecording

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Removes the secrets of one exchange before anything of it is stored or compared.
///
/// Besides the values that a redaction recognizes by their names, it hides the credentials of the request wherever else
/// they occur, for example in a response that repeats the token that it received.
struct CassetteRedactor: Sendable {
    let redaction: Redaction
    /// The values of the request's secret fields that have at least 16 bytes. Shorter ones might be common words.
    private var values: [String] = []
    private var opaqueTypes: [MediaType] = []

    private static let shortest = 16

    /// Creates the redactor of a request, with the secrets that its client declares.
    init(_ request: HTTPRequest, options: Cassette.Options, secrets: DeclaredSecrets) {
        self.init(redaction: secrets.added(to: options.redaction))
        opaqueTypes = options.opaqueTypes
        guard !redaction.hidesNothing else { return }
        for field in request.headers where isSecret(field.name, in: request.headers) {
            values += Self.credentials(in: field).filter { $0.utf8.count >= Self.shortest && !$0.holds(" ") }
        }
        values = Array(Set(values)).sorted { $0.utf8.count > $1.utf8.count }
    }

    /// Returns the parts of a secret field that a server may repeat: the value and its words, the values of cookies, and
    /// the name and password of Basic.
    private static func credentials(in field: HTTPField) -> [String] {
        if field.name == .cookie {
            return field.value.parts(";").map { pair in
                String(pair[(pair.first("=") ?? pair.startIndex)...].trimmed { $0 == UInt8(ascii: "=") || $0 == 0x20 })
            }
        }
        let words = field.value.parts(" ").map(String.init)
        guard words.count == 2, words[0].lowercased() == "basic", let data = Data(base64Encoded: words[1]) else {
            return [field.value] + words
        }
        let pair = String(decoding: data, as: UTF8.self)
        return words + [pair] + pair.parts(":", most: 2, keepingEmpty: true).map(String.init)
    }

    /// Creates a redactor for a message whose credentials are unknown.
    init(redaction: Redaction) {
        self.redaction = redaction
    }

    func url(_ url: String) -> String { hiding(redaction.url(url)) }

    func text(_ text: String) -> String { hiding(redaction.text(text)) }

    /// Returns the fields without secrets. Of a cookie that a response sets, the name and the attributes are kept.
    func fields(_ headers: HTTPHeaders) -> [HARDocument.NameValue] {
        headers.map { field in
            let isHidden = isSecret(field.name, in: headers)
            let value =
                if isHidden, field.name == .setCookie {
                    Self.setCookie(field.value, redaction)
                } else if isHidden {
                    Redaction.mark
                } else {
                    hiding(redaction.value(field.value, ofHeader: field.name))
                }
            return HARDocument.NameValue(name: field.name.text, value: value)
        }
    }

    private func isSecret(_ name: HTTPField.Name, in headers: HTTPHeaders) -> Bool {
        if redaction.isSecret(header: name) { return true }
        // A client with secret paths declares the fields whose values are URLs, which `redaction` can show without them.
        return headers.isSecret(name) && !redaction.hidesNothing
            && (redaction.pathPatterns.isEmpty || !Redaction.urlHeaders.contains(name))
    }

    /// Returns a `Set-Cookie` value without the value of the cookie and without unknown attributes.
    private static func setCookie(_ text: String, _ redaction: Redaction) -> String {
        guard let cookie = try? SetCookie(text), !cookie.name.isEmpty else { return Redaction.mark }
        let known: Set<String> = [
            "path", "domain", "expires", "max-age", "secure", "httponly", "samesite", "partitioned",
        ]
        let attributes = text.parts(";").dropFirst().map { $0.trimmed() }.filter { attribute in
            known.contains(attribute.upTo("=").trimmed().lowercased())
        }
        return (["\(cookie.name)=\(Redaction.mark)"] + attributes.map { redaction.url(String($0)) })
            .joined(separator: "; ")
    }

    /// Returns the body of a request to compare: redacted if it is text, otherwise unchanged. `isLegible` is false if its
    /// secrets cannot be recognized.
    func compared(_ data: Data, _ type: MediaType?) -> (data: Data, isLegible: Bool) {
        if data.isEmpty { return (data, true) }
        let text = redaction.shownBody(data, mediaType: type, limit: .max, clips: false)
        guard !redaction.hidesNothing else { return (data, text != nil) }
        return text.map { (Data(hiding($0).utf8), true) } ?? (data, false)
    }

    /// A body as it is stored.
    struct Stored: Hashable, Sendable {
        let text: String
        var encoding: String?
    }

    /// Returns the body to store; nil if its secrets cannot be recognized and its media type is not allowed.
    func stored(_ data: Data, _ type: MediaType?) -> Stored? {
        if data.isEmpty { return Stored(text: "") }
        if !redaction.hidesNothing {
            if let text = redaction.shownBody(data, mediaType: type, limit: .max, clips: false) {
                return Stored(text: hiding(text))
            }
            guard isAllowed(type), !values.contains(where: { EncodedText.holds($0, in: data) }) else {
                return nil
            }
        }
        let text = String(decoding: data, as: UTF8.self)
        guard text.utf8.elementsEqual(data) else { return Stored(text: data.base64EncodedString(), encoding: "base64") }
        // The parts of a multipart body are kept as they are: a redaction would guess.
        return Stored(text: type?.type == "multipart" ? text : redaction.bodyText(text, mediaType: type))
    }

    /// Returns whether the media type alone shows that a body with bytes cannot be stored.
    func refuses(_ type: MediaType?) -> Bool {
        guard !redaction.hidesNothing, let type, !isAllowed(type) else { return false }
        return redaction.shownBody(Data("{}".utf8), mediaType: type, limit: .max, clips: false) == nil
    }

    private func isAllowed(_ type: MediaType?) -> Bool {
        opaqueTypes.contains { (type ?? .octetStream).matches($0) }
    }

    private func hiding(_ text: String) -> String {
        guard !values.isEmpty else { return text }
        return values.reduce(text) { EncodedText.replacing($1, in: $0, with: Redaction.mark) }
    }
}
