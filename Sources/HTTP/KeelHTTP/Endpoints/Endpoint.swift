public import HTTPTypes

/// An operation of a service.
///
/// Conform an enumeration that has a case per operation, and call it through a ``ServiceClient`` with the response
/// type. An endpoint need not be `Sendable`: the client reads it on the caller's actor.
public protocol ServiceEndpoint {
    /// The method; `GET` by default.
    var method: HTTPRequest.Method { get }

    /// The path below the client's base URL, or an absolute URL: ``EndpointPath/url(_:)``.
    var path: EndpointPath { get }

    /// The query; empty by default.
    var query: HTTPQuery { get }

    /// The header fields, which replace the client's default fields of the same name.
    var headers: HTTPFields { get }

    /// The body; none by default.
    var body: RequestBody? { get }

    /// The total timeout of the call; nil, the default, uses the client's.
    var timeout: Duration? { get }

    /// The options for the layers, which override the client's; none by default.
    var options: HTTPCallOptions { get }

    /// The types for decoding error responses, tried before those of the service and the client.
    var errorBodies: [ErrorBody] { get }

    /// The coding of values in the request and the response; nil, the default, uses the client's.
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
    public var errorBodies: [ErrorBody] { [] }
    public var coding: (any BodyCoding)? { nil }
}

/// An operation of a service with a declared response type.
///
/// ```swift
/// struct GetRestaurant: Endpoint {
///     typealias Response = Restaurant
///     let id: String
///     var path: EndpointPath { "/restaurants/\(id)" }
/// }
/// ```
///
/// If your module isolates declarations to the main actor by default, declare the response type `nonisolated`: it is
/// decoded off the main actor.
public protocol Endpoint: ServiceEndpoint {
    /// The type that the response body is decoded as; ``EmptyResponse`` if there is no body.
    associatedtype Response: Decodable & Sendable
}

/// The response of an endpoint without a body, or with a body to ignore.
public struct EmptyResponse: Decodable, Sendable, Hashable {
    /// Creates the value.
    public init() {}

    public init(from decoder: any Decoder) {}
}
