public import HTTPTypes

/// A type that the body of an error response, with a status outside 200 to 299, is decoded as.
///
/// Declare it for an endpoint (``ServiceEndpoint/failures``), for a service (``ServiceClient/init(_:failures:)``) or
/// for a client (``NetworkClient/Configuration/failures``).
///
/// ```swift
/// struct SignUp: Endpoint {
///     var failures: [FailureBody] { [.json(ValidationProblem.self, for: .unprocessableContent)] }
///     // …
/// }
///
/// do throws(NetworkError) {
///     _ = try await client.request(SignUp(form))
/// } catch {
///     if let problem = error.failure(as: ValidationProblem.self) { show(problem.fields) }
/// }
/// ```
///
/// The endpoint's declarations come before the service's, and those before the client's; the first one for the status
/// whose type matches the body applies. After those, a body of the media type `application/problem+json` is decoded as
/// ``ProblemDetails``. A body that matches no type, or that is longer than
/// ``NetworkClient/Configuration/errorBodyLimit``, leaves the error as it would be without a declaration.
public struct FailureBody: Sendable {
    private let statuses: ClosedRange<Int>
    private let read: @Sendable ([UInt8], any BodyCoding) throws -> any Sendable

    /// Decodes the JSON body of one status.
    public static func json<Value: Decodable & Sendable>(
        _ type: Value.Type,
        for status: HTTPResponse.Status
    ) -> FailureBody {
        json(type, for: status.code...status.code)
    }

    /// Decodes the JSON bodies of a range of statuses, by default from 300 to 599.
    public static func json<Value: Decodable & Sendable>(
        _ type: Value.Type,
        for statuses: ClosedRange<Int> = 300...599
    ) -> FailureBody {
        FailureBody(statuses: statuses) { bytes, coding in try coding.decode(type, from: bytes) }
    }

    /// Decodes the bodies of a range of statuses with a closure, such as for another format.
    public static func custom(
        for statuses: ClosedRange<Int>,
        read: @escaping @Sendable ([UInt8]) throws -> any Sendable
    ) -> FailureBody {
        FailureBody(statuses: statuses) { bytes, _ in try read(bytes) }
    }

    /// Returns the decoded body of a response, or nil if no declaration matches.
    static func value(
        of response: NetworkResponse,
        declared: [FailureBody],
        coding: any BodyCoding
    ) -> (any Sendable)? {
        guard !response.body.isEmpty else { return nil }
        for failure in declared where failure.statuses.contains(response.status.code) {
            if let value = try? failure.read(response.body, coding) { return value }
        }
        guard response.mediaType == ProblemDetails.mediaType else { return nil }
        return try? coding.decode(ProblemDetails.self, from: response.body)
    }
}
