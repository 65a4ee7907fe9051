/// A service's description of a problem, in the common form of RFC 9457.
///
/// A refusing response of the media type `application/problem+json` is read as this type without
/// any declaration: `error.failure(as: ProblemDetails.self)`. For members of one's own, declare a
/// type that reads this one from the same decoder:
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
    /// The media type of such a body.
    public static let mediaType = "application/problem+json"

    /// Names the kind of problem with a URI; `about:blank` says no more than the status does.
    public var type: String

    /// A short summary of the kind of problem, for people.
    public var title: String?

    /// The status, as the service wrote it into the body.
    public var status: Int?

    /// The explanation of this occurrence, for people.
    public var detail: String?

    /// Names this occurrence of the problem with a URI.
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
        // A member of another type is ignored, not an error (RFC 9457 section 3.1).
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
