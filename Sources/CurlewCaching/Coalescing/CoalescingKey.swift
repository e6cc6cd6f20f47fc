// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewFoundation
import CurlewHTTP

/// The key of a shared exchange: everything that can make the responses to two requests differ.
///
/// Strings are stored as bytes with their lengths. Therefore no value can make two different keys equal, and different
/// encodings of a character are different.
struct CoalescingKey: Hashable, Sendable {
    /// The principal to whom the response belongs.
    let principal: Principal

    private let text: [UInt8]
    private let chain: UInt64
    private let clientOrigin: Origin?
    private let credential: Credential
    private let limits: Limits
    private let timeouts: Timeouts
    private let skipsContentDecoding: Bool
    private let isIdempotent: Bool?
    private let values: [ObjectIdentifier: OptionValue]

    /// The settings that select the credentials that inner interceptors attach.
    private struct Credential: Hashable {
        let choice: RequestOptions.Authentication
        let isAuthenticated: Bool
        let crossedOrigin: Bool
        let forwardedFields: ForwardedFields
    }

    /// Creates the key of a request; nil if the request must not share an exchange.
    init?(_ request: HTTPRequest, _ next: Next, ignoring fields: Set<HTTPField.Name>) {
        let context = next.context
        let options = context.options
        guard request.method.isSafe, request.body.isEmpty, options.streaming != true, options.coalesces,
            !request.headers.contains("Upgrade"), let values = Self.values(of: options)
        else { return nil }
        let principal = Self.principal(of: request, next, ignoring: fields)
        guard principal != .unknown else { return nil }
        self.values = values
        self.principal = principal
        text = Self.text(of: request, principal, context, ignoring: fields)
        chain = next.chain
        clientOrigin = context.clientOrigin
        credential = Credential(
            choice: context.authentication, isAuthenticated: context.isAuthenticated,
            crossedOrigin: context.crossedOrigin, forwardedFields: context.forwardedFields)
        limits = context.limits
        var timeouts = context.timeouts
        timeouts.total = nil
        self.timeouts = timeouts
        skipsContentDecoding = options.skipsContentDecoding == true
        isIdempotent = options.isIdempotent
    }

    /// Returns the principal to whom the response belongs. An ignored field counts only if it is a secret; the other
    /// fields are a part of the key.
    static func principal(of request: HTTPRequest, _ next: Next, ignoring fields: Set<HTTPField.Name>) -> Principal {
        let secrets = next.context.forwardedFields.secret.union(next.context.fields.secret)
        var kept = request
        for field in request.headers
        where fields.contains(field.name) && !field.name.isSensitive && !secrets.contains(field.name) {
            kept.headers.remove(field.name)
        }
        return next.principal(of: kept)
    }

    private static func text(
        of request: HTTPRequest, _ principal: Principal, _ context: ExchangeContext,
        ignoring fields: Set<HTTPField.Name>
    ) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(512)
        text.append(counted: request.method.rawValue.utf8)
        text.append(counted: request.origin.description.utf8)
        text.append(counted: request.target.utf8)
        var principalName: String?
        if case .known(let name, _) = principal { principalName = name }
        text.append(principalName == nil ? 0 : 1)
        text.append(counted: (principalName ?? "").utf8)
        func append(_ fields: [(name: String, value: String)]) {
            for field in fields.ordered(by: { $0.name < $1.name }) {
                text.append(counted: field.name.utf8)
                text.append(counted: field.value.utf8)
            }
        }
        append(context.hopFields.map { (ASCII.lowercased($0.text), $1) })
        text.append(counted: "".utf8)
        append(request.headers.filter { !fields.contains($0.name) }.map { (ASCII.lowercased($0.name.text), $0.value) })
        return text
    }

    /// Returns the options that extensions define; nil if one of them is not `Hashable`.
    private static func values(of options: RequestOptions) -> [ObjectIdentifier: OptionValue]? {
        let all = options.exchangeValues
        if all.isEmpty { return [:] }
        var values: [ObjectIdentifier: OptionValue] = [:]
        for (key, value) in all {
            guard let value = OptionValue(value) else { return nil }
            values[key] = value
        }
        return values
    }
}

/// The value of an option that an extension defines, as a `Hashable` value.
private struct OptionValue: Hashable, Sendable {
    private let value: any Sendable

    init?(_ value: any Sendable) {
        guard value is any Hashable else { return nil }
        self.value = value
    }

    private var comparable: AnyHashable? {
        (value as? any Hashable).map { AnyHashable($0) }
    }

    static func == (left: OptionValue, right: OptionValue) -> Bool {
        left.comparable == right.comparable
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(comparable)
    }
}

extension [UInt8] {
    fileprivate mutating func append(counted bytes: some Collection<UInt8>) {
        Swift.withUnsafeBytes(of: UInt64(bytes.count).littleEndian) { append(contentsOf: $0) }
        append(contentsOf: bytes)
    }
}
