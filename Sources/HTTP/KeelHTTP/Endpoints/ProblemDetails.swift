/// A service's description of a problem, in the standard format of RFC 9457.
///
/// The body of an error response with the media type `application/problem+json` is decoded as this type without a
/// declaration: `error.errorBody(as: ProblemDetails.self)`. For additional members, declare a type that decodes this
/// one from the same decoder:
///
/// ```swift
/// struct OutOfCredit: Decodable, Sendable {
///     let problem: ProblemDetails
///     let balance: Int
///
///     enum CodingKeys: CodingKey { case balance }
///
///     init(from decoder: any Decoder) throws {
///         problem = try ProblemDetails(from: decoder)
///         balance = try decoder.container(keyedBy: CodingKeys.self).decode(Int.self, forKey: .balance)
///     }
/// }
/// ```
public struct ProblemDetails: Sendable, Hashable {
    /// The media type of problem bodies.
    public static let mediaType = "application/problem+json"

    /// A URI that identifies the kind of problem; `about:blank` adds nothing to the status.
    public var type: String

    /// A short human-readable summary of the kind of problem.
    public var title: String?

    /// The status as stated in the body.
    public var status: Int?

    /// A human-readable explanation of this occurrence.
    public var detail: String?

    /// A URI that identifies this occurrence.
    public var instance: String?

    /// Creates a description of a problem.
    public init(
        type: String = "about:blank",
        title: String? = nil,
        status: Int? = nil,
        detail: String? = nil,
        instance: String? = nil
    ) {
        self.type = type
        self.title = title
        self.status = status
        self.detail = detail
        self.instance = instance
    }
}

extension ProblemDetails: Codable {
    private enum CodingKeys: CodingKey { case type, title, status, detail, instance }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        // A member of the wrong type is ignored rather than an error (RFC 9457 section 3.1).
        func text(_ key: CodingKeys) -> String? { try? container.decode(String.self, forKey: key) }
        self.init(
            type: text(.type) ?? "about:blank",
            title: text(.title),
            status: try? container.decode(Int.self, forKey: .status),
            detail: text(.detail),
            instance: text(.instance)
        )
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(type, forKey: .type)
        try container.encodeIfPresent(title, forKey: .title)
        try container.encodeIfPresent(status, forKey: .status)
        try container.encodeIfPresent(detail, forKey: .detail)
        try container.encodeIfPresent(instance, forKey: .instance)
    }
}
