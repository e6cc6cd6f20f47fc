// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewFoundation
public import CurlewHTTP

extension HARDocument {
    /// Returns the document without its secrets, for a document that another program recorded.
    ///
    /// Secrets are replaced in URLs, queries, header fields and bodies, as are the values of all cookies. Remarks and
    /// the texts of failures and decisions are searched for names of secrets.
    ///
    /// - `redaction`: the secrets to redact. With `.none`, the document is returned unchanged. Default `.standard`.
    /// - `opaqueBodies`: what happens to bodies whose secrets cannot be recognized. Default `.omitted`.
    public func redacted(
        _ redaction: Redaction = .standard, opaqueBodies: OpaqueBodies = .omitted
    ) -> HARDocument {
        if redaction.hidesNothing { return self }
        var copy = self
        copy.log.comment = log.comment.map(redaction.text)
        copy.log.entries = entries.map { entry in
            var entry = entry
            entry.request.redact(redaction, opaqueBodies)
            entry.response.redact(redaction, opaqueBodies)
            entry.comment = entry.comment.map(redaction.text)
            entry.facts?.redact(redaction)
            return entry
        }
        return copy
    }
}

extension HARDocument.Request {
    package mutating func redact(_ redaction: Redaction, _ opaqueBodies: HARDocument.OpaqueBodies) {
        // Another program may have recorded the name and password of a URL. In a URL that cannot be sent, they may be
        // anywhere before the last @.
        let isUsable = (try? HTTPRequest(url: url)) != nil
        url = isUsable ? redaction.url(url) : redaction.unusable(url: url)
        queryString = [HARDocument.NameValue](queryOf: url)
        headers = headers.map { $0.redacted(redaction) }
        cookies = cookies.map(\.redacted)
        guard let body = postData else { return }
        let data = (try? body.data()) ?? nil
        postData = HARDocument.PostData(mimeType: body.mimeType, comment: body.comment.map(redaction.text))
        guard let data else {
            postData?.comment = "The body is not recorded, because its fields have no bytes."
            return
        }
        let recorded = RecordedBody(
            data, mediaType: MediaType(body.mimeType), redaction: redaction, opaqueBodies: opaqueBodies)
        postData?.text = recorded.text
        postData?.encoding = recorded.encoding
        if let comment = recorded.comment { postData?.comment = comment }
    }
}

extension HARDocument.Response {
    fileprivate mutating func redact(_ redaction: Redaction, _ opaqueBodies: HARDocument.OpaqueBodies) {
        headers = headers.map { $0.redacted(redaction) }
        cookies = cookies.map(\.redacted)
        statusText = redaction.text(statusText)
        redirectURL = redaction.value(redirectURL, ofHeader: .location)
        error = error.map(redaction.text)
        trailers = trailers?.map { $0.redacted(redaction) }
        interim = interim?.map { $0.redacted(redaction) }
        guard content.text != nil else {
            content.comment = content.comment.map(redaction.text)
            return
        }
        let data = (try? content.data()) ?? nil
        let recorded = RecordedBody(
            data ?? Data(), mediaType: MediaType(content.mimeType), redaction: redaction, opaqueBodies: opaqueBodies)
        let text = data == nil ? nil : recorded.text
        // A redaction moves the bytes.
        if text != content.text { content.chunks = nil }
        content.text = text
        content.encoding = recorded.encoding
        content.comment = recorded.comment ?? content.comment.map(redaction.text)
    }
}

extension HARDocument.Facts {
    fileprivate mutating func redact(_ redaction: Redaction) {
        outcome = outcome.map(redaction.text)
        trailers = trailers?.map { $0.redacted(redaction) }
        decisions = decisions?.map { decision in
            var decision = decision
            decision.text = redaction.text(decision.text)
            return decision
        }
        interim = interim?.map { $0.redacted(redaction) }
    }
}

extension HARDocument.Interim {
    fileprivate func redacted(_ redaction: Redaction) -> HARDocument.Interim {
        var copy = self
        copy.headers = headers.map { $0.redacted(redaction) }
        return copy
    }
}

extension HARDocument.NameValue {
    fileprivate func redacted(_ redaction: Redaction) -> HARDocument.NameValue {
        var copy = self
        // HTTP/2 has the path in a pseudo-field, which some programs record.
        let isPath = name.utf8.elementsEqual(":path".utf8)
        copy.value =
            isPath ? redaction.url(value) : redaction.value(value, ofHeader: HTTPField.Name(name))
        return copy
    }
}

extension HARDocument.Cookie {
    fileprivate var redacted: HARDocument.Cookie {
        var copy = self
        copy.value = Redaction.mark
        return copy
    }
}
