// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewFoundation
import CurlewHTTP
import CurlewRecording

/// Removes the secrets of one exchange, which are recognized by their names, before anything of it is stored or compared.
struct CassetteRedactor: Sendable {
    let redaction: Redaction
    private var opaqueTypes: [MediaType] = []

    /// Creates the redactor of a request, with the secrets that its client declares.
    init(options: Cassette.Options, secrets: DeclaredSecrets) {
        redaction = secrets.added(to: options.redaction)
        opaqueTypes = options.opaqueTypes
    }

    /// Creates a redactor for an entry of a file.
    init(redaction: Redaction) {
        self.redaction = redaction
    }

    func url(_ url: String) -> String { redaction.url(url) }

    func text(_ text: String) -> String { redaction.text(text) }

    /// Returns the fields without secrets. Of a cookie that a response sets, the name and the attributes are kept.
    func fields(_ headers: HTTPHeaders) -> [HARDocument.NameValue] {
        headers.map { field in
            let shown = headers.value(of: field, redaction)
            let isCookie = field.name == .setCookie && shown == Redaction.mark
            return HARDocument.NameValue(
                name: field.name.text, value: isCookie ? Self.setCookie(field.value, redaction) : shown)
        }
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

    /// Returns the body of a request to compare: redacted if its secrets can be recognized, otherwise unchanged.
    func compared(_ data: Data, _ type: MediaType?) -> Data {
        guard !data.isEmpty, !redaction.hidesNothing else { return data }
        return redaction.shownBody(data, mediaType: type, limit: .max, clips: false).map { Data($0.utf8) } ?? data
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
                return Stored(text: text)
            }
            guard isAllowed(type) else { return nil }
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
}
