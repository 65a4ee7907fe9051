internal import Synchronization

/// Intentional failures, once each, to show how a client copes.
///
/// The first `GET` of each path below `/restaurants`, with any query, fails with 503 and `Retry-After`; the first `GET
/// /me` fails with 401, as if its token had been revoked. The first write to each path below `/users` is applied, but
/// its response is lost.
final class Hiccups: Sendable {
    private let seen = Mutex<Set<[String]>>([])

    /// Returns the failure to send instead of a response; nil for none.
    func failure(of request: APIRequest) -> APIResponse? {
        let isCounted = request.path == ["me"] || request.path.first == "restaurants"
        guard request.method == "GET", isCounted,
            seen.withLock({ $0.insert(request.path).inserted })
        else { return nil }
        guard request.path != ["me"] else {
            return .failure(401, "the access token was withdrawn")
        }
        var response = APIResponse.failure(503, "the kitchen is busy")
        response.fields["Retry-After"] = "1"
        return response
    }

    /// Returns whether the response to an applied write is lost.
    func losesAnswer(to request: APIRequest) -> Bool {
        seen.withLock { $0.insert(request.path).inserted }
    }
}
