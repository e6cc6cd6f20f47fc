// SPDX-License-Identifier: MIT

public import CurlewCore
public import CurlewFoundation
import CurlewHTTP

/// Encodes values as the fields of a form or as query items (`application/x-www-form-urlencoded`, WHATWG URL §5).
///
///     .post("/orders", body: .form(order, using: FormEncoder(lists: .indices)))
///     .get("/films", query: try QueryItems(encoding: filter))
///
/// Members become fields in their order, and nil is omitted. The members of a dictionary are sorted by name, so that
/// equal values produce equal forms. Data is Base64, URLs are absolute text, `Bool` is `true` or `false`. A value whose
/// top level is not an object, or with more than 64 nested levels, throws `NetworkError` with reason `.encoding`.
public struct FormEncoder: Sendable {
    /// The notation of lists, for `tags = ["a", "b"]`.
    public enum Lists: Hashable, Sendable {
        /// The name is repeated: `tags=a&tags=b`.
        case repeated
        /// The name is repeated with brackets: `tags[]=a&tags[]=b`, as in PHP and Rails.
        case brackets
        /// The name contains the index: `tags[0]=a&tags[1]=b`.
        case indices
        /// One field contains all elements, with this text between them: `tags=a,b`. The receiver cannot distinguish a
        /// separator from the same text in an element. Lists of objects or of lists throw `.encoding`.
        case joined(by: String)
    }

    /// The notation of nested objects, for `owner = {name: "Ann"}`.
    public enum Nesting: Hashable, Sendable {
        /// `owner[name]=Ann`.
        case brackets
        /// `owner.name=Ann`.
        case dots
    }

    /// The format of dates.
    public enum Dates: Sendable {
        /// RFC 3339 in UTC with whole seconds: `1970-01-01T00:00:00Z`.
        case iso8601
        /// The seconds since 1970 as a whole number, rounded down.
        case secondsSince1970
        /// The milliseconds since 1970 as a whole number, rounded down.
        case millisecondsSince1970
        /// The text that the closure returns.
        case custom(@Sendable (Date) -> String)
    }

    let lists: Lists
    let nesting: Nesting
    private let dates: Dates

    /// The maximum nesting depth of values.
    static let maximumLevels = 64

    /// Creates an encoder. By default, lists repeat their name, nested names are in brackets, and dates are RFC 3339.
    public init(lists: Lists = .repeated, nesting: Nesting = .brackets, dates: Dates = .iso8601) {
        self.lists = lists
        self.nesting = nesting
        self.dates = dates
    }

    /// Returns the fields of `value` in order. Throws `EncodingError`.
    func items(of value: any Encodable) throws -> QueryItems {
        let sink = FormSink(style: self)
        try FormValueEncoder(sink: sink, name: nil, codingPath: []).write(value)
        return QueryItems(sink.fields.map { ($0.name, $0.value) })
    }

    func text(of date: Date) -> String {
        switch dates {
        case .iso8601: date.formatted(.iso8601)
        case .secondsSince1970: Self.wholeNumber(date.timeIntervalSince1970)
        case .millisecondsSince1970: Self.wholeNumber(date.timeIntervalSince1970 * 1000)
        case .custom(let text): text(date)
        }
    }

    /// A date that no `Int64` can hold is written as a floating-point number.
    private static func wholeNumber(_ number: Double) -> String {
        Int64(exactly: number.rounded(.down)).map(String.init) ?? number.description
    }
}

extension RequestContent {
    /// A form whose fields are the members of a value, encoded when the call is sent:
    ///
    ///     .post("/orders", body: .form(order))
    ///
    /// Nested members become `a[b]` and lists repeat the name, unless `encoder` says otherwise. `send` throws
    /// `.encoding` for a value that is not an object or cannot be encoded.
    @_disfavoredOverload
    public static func form(
        _ value: some Encodable & Sendable, using encoder: FormEncoder = FormEncoder()
    ) -> RequestContent {
        RequestContent(.form, contentType: "application/x-www-form-urlencoded") { _ in
            .bytes(Data(try encoder.items(of: value).formText.utf8))
        }
    }
}

extension QueryItems {
    /// Creates the query items of a value's members: `QueryItems(encoding: Filter(genre: "drama", years: [1927]))`.
    ///
    /// Throws `NetworkError` with reason `.encoding` for a value that is not an object or cannot be encoded.
    public init(
        encoding value: some Encodable, using encoder: FormEncoder = FormEncoder()
    ) throws(NetworkError) {
        do {
            self = try encoder.items(of: value)
        } catch {
            throw NetworkError(
                .encoding, detail: "The value \(type(of: value)) cannot be written as query items: \(error)",
                hint: "Use a struct or dictionary of strings, numbers, dates, lists or nested objects.",
                underlying: error)
        }
    }
}
