public import HTTPTypes

/// A type that the body of an error response is decoded as.
///
/// Declare it for an endpoint (``ServiceEndpoint/errorBodies``), for a service (``ServiceClient/init(_:errorBodies:)``)
/// or for a client (``NetworkClient/Configuration/errorBodies``).
///
/// ```swift
/// struct SignUp: Endpoint {
///     var errorBodies: [ErrorBody] { [.json(ValidationProblem.self, for: .unprocessableContent)] }
///     // …
/// }
///
/// do throws(NetworkError) {
///     _ = try await client.request(SignUp(form))
/// } catch {
///     if let problem = error.errorBody(as: ValidationProblem.self) { show(problem.fields) }
/// }
/// ```
///
/// The endpoint's declarations come before the service's, and those before the client's; the first one for the status
/// whose type matches the body applies. After those, a body of the media type `application/problem+json` is decoded as
/// ``ProblemDetails``. If nothing matches, ``NetworkError/errorBody`` is nil. A body longer than
/// ``NetworkClient/Configuration/errorBodyLimit`` is cut off, so it usually matches nothing.
public struct ErrorBody: Sendable {
    private let statuses: ClosedRange<Int>
    private let read: @Sendable ([UInt8], any BodyCoding) throws -> any Sendable

    /// Decodes the JSON body of one status.
    public static func json<Value: Decodable & Sendable>(
        _ type: Value.Type,
        for status: HTTPResponse.Status
    ) -> ErrorBody {
        json(type, for: status.code...status.code)
    }

    /// Decodes the JSON bodies of a range of statuses, by default from 300 to 599.
    public static func json<Value: Decodable & Sendable>(
        _ type: Value.Type,
        for statuses: ClosedRange<Int> = 300...599
    ) -> ErrorBody {
        ErrorBody(statuses: statuses) { bytes, coding in try coding.decode(type, from: bytes) }
    }

    /// Decodes the bodies of a range of statuses with a closure, such as for another format.
    public static func custom(
        for statuses: ClosedRange<Int>,
        read: @escaping @Sendable ([UInt8]) throws -> any Sendable
    ) -> ErrorBody {
        ErrorBody(statuses: statuses) { bytes, _ in try read(bytes) }
    }

    static func value(
        of response: NetworkResponse,
        declared: [ErrorBody],
        coding: any BodyCoding
    ) -> (any Sendable)? {
        guard !response.body.isEmpty else { return nil }
        for errorBody in declared where errorBody.statuses.contains(response.status.code) {
            if let value = try? errorBody.read(response.body, coding) { return value }
        }
        guard response.mediaType == ProblemDetails.mediaType else { return nil }
        return try? coding.decode(ProblemDetails.self, from: response.body)
    }
}
