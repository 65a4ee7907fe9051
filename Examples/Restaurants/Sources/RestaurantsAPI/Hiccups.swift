internal import Synchronization

/// What goes wrong on purpose, once each, so that one can see how a client copes.
///
/// The first `GET` of each path below `/restaurants`, whatever its query, is put off with 503 and
/// `Retry-After`; the first `GET /me` is refused with 401, as if its token had been withdrawn. Of
/// each path below `/users`, the first write is carried out and its answer lost.
final class Hiccups: Sendable {
    private let seen = Mutex<Set<[String]>>([])

    /// The failure in place of an answer; nil if the request may be answered.
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

    /// Whether the answer to a write that was carried out is lost.
    func losesAnswer(to request: APIRequest) -> Bool {
        seen.withLock { $0.insert(request.path).inserted }
    }
}
