public import HTTPTypes

/// Which type the body of a refusing response is read as.
///
/// Declare it where it holds: for one endpoint (``ServiceEndpoint/failures``), for a service
/// (``ServiceClient/init(_:failures:)``) or for a client (``NetworkClient/Configuration/failures``).
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
/// Of all declarations for a status, the endpoint's before the service's before the client's, the
/// first whose type fits the body counts. After those, a body of the media type
/// `application/problem+json` is read as ``ProblemDetails``. A body that fits no type, or that is
/// longer than ``NetworkClient/Configuration/errorBodyLimit``, leaves the error as it would be
/// without a declaration.
public struct FailureBody: Sendable {
    private let statuses: ClosedRange<Int>
    private let read: @Sendable ([UInt8], any BodyCoding) throws -> any Sendable

    /// Reads the JSON body of one status as a type.
    public static func json<Value: Decodable & Sendable>(
        _ type: Value.Type,
        for status: HTTPResponse.Status
    ) -> FailureBody {
        json(type, for: status.code...status.code)
    }

    /// Reads the JSON bodies of a range of statuses as a type, of all refusing ones unless said
    /// otherwise.
    public static func json<Value: Decodable & Sendable>(
        _ type: Value.Type,
        for statuses: ClosedRange<Int> = 300...599
    ) -> FailureBody {
        FailureBody(statuses: statuses) { bytes, coding in try coding.decode(type, from: bytes) }
    }

    /// Reads the bodies of a range of statuses in a way of one's own, such as another format.
    public static func custom(
        for statuses: ClosedRange<Int>,
        read: @escaping @Sendable ([UInt8]) throws -> any Sendable
    ) -> FailureBody {
        FailureBody(statuses: statuses) { bytes, _ in try read(bytes) }
    }

    /// Returns the value of a refusing response, or nil if no declaration fits.
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
