public import HTTPTypes

/// One operation of a service, as a value.
///
/// Conform an enumeration with a case for each operation, and call it through
/// ``ServiceClient``, naming the response at the call:
///
/// ```swift
/// enum AuthEndpoint: ServiceEndpoint {
///     case login(Credentials)
///     case logout
///
///     var method: HTTPRequest.Method { .post }
///     var path: EndpointPath {
///         switch self {
///         case .login: "/auth/login"
///         case .logout: "/auth/logout"
///         }
///     }
///     var body: RequestBody? {
///         guard case .login(let credentials) = self else { return nil }
///         return .json(credentials)
///     }
/// }
/// ```
///
/// An endpoint need not be `Sendable`: the client reads it before it goes to work, on the caller's
/// actor.
public protocol ServiceEndpoint {
    /// The method; `GET` unless said otherwise.
    var method: HTTPRequest.Method { get }

    /// The path below the client's base URL, or an address of its own: ``EndpointPath/url(_:)``.
    var path: EndpointPath { get }

    /// The query; none unless said otherwise.
    var query: HTTPQuery { get }

    /// Header fields that replace the client's default fields of the same name.
    var headers: HTTPFields { get }

    /// The body; none unless said otherwise.
    var body: RequestBody? { get }

    /// The total time for the call; nil, unless said otherwise, uses the client's.
    var timeout: Duration? { get }

    /// The call's options for the layers it passes; none unless said otherwise.
    var options: HTTPCallOptions { get }

    /// Which types the bodies of refusing responses are read as, beside those that the service and
    /// the client name; none unless said otherwise.
    var failures: [FailureBody] { get }

    /// How values of the request and the response are written; nil, unless said otherwise, uses the
    /// client's.
    ///
    /// ```swift
    /// var coding: (any BodyCoding)? { JSONCoding(names: .snakeCase, dates: .day) }
    /// ```
    var coding: (any BodyCoding)? { get }
}

extension ServiceEndpoint {
    public var method: HTTPRequest.Method { .get }
    public var query: HTTPQuery { HTTPQuery() }
    public var headers: HTTPFields { [:] }
    public var body: RequestBody? { nil }
    public var timeout: Duration? { nil }
    public var options: HTTPCallOptions { HTTPCallOptions() }
    public var failures: [FailureBody] { [] }
    public var coding: (any BodyCoding)? { nil }
}

/// An operation of a service that knows what it returns.
///
/// ```swift
/// struct GetRestaurant: Endpoint {
///     typealias Response = Restaurant
///     let id: String
///     var path: EndpointPath { "/restaurants/\(id)" }
/// }
///
/// let restaurant = try await client.request(GetRestaurant(id: "42"))
/// ```
///
/// In a target whose default isolation is the main actor, declare the response type `nonisolated`:
/// it is decoded off the main actor.
public protocol Endpoint: ServiceEndpoint {
    /// The type that the response body is decoded to; ``EmptyResponse`` where there is none.
    associatedtype Response: Decodable & Sendable
}

/// The response of an endpoint that answers without a body, or with one that nobody reads.
public struct EmptyResponse: Decodable, Sendable, Hashable {
    /// Creates the value.
    public init() {}

    public init(from decoder: any Decoder) {}
}
