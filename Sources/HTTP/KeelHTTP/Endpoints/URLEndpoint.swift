public import HTTPTypes

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// An absolute URL as an operation: an image of a CDN, a signed URL, a link in a response.
///
/// ```swift
/// let image = try await client.download(from: URLEndpoint(restaurant.imageURL))
/// ```
///
/// See ``EndpointPath/url(_:)`` for the header fields of a call to another origin.
public struct URLEndpoint: ServiceEndpoint, Sendable {
    /// The URL.
    public var url: URL

    public var method: HTTPRequest.Method

    public var headers: HTTPFields

    public var body: RequestBody?

    public var path: EndpointPath { .url(url) }

    /// Creates an operation on a URL.
    public init(
        _ url: URL,
        method: HTTPRequest.Method = .get,
        headers: HTTPFields = [:],
        body: RequestBody? = nil
    ) {
        self.url = url
        self.method = method
        self.headers = headers
        self.body = body
    }
}
