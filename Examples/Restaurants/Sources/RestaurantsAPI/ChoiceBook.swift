internal import Foundation
internal import Synchronization

/// The users' choices, which are lost when the service ends.
///
/// | request of a signed-in user | body | effect |
/// |---|---|---|
/// | `PUT /users/me/favourites/{id}` | anything | adds the favourite |
/// | `DELETE /users/me/favourites/{id}` | | removes the favourite |
/// | `PUT /users/me/ratings/{id}` | `{"stars": 1 to 5}` | sets the rating |
///
/// The response is always 204. A request with an `Idempotency-Key` is applied once: another request of the user with
/// the same key gets the same response, and changes nothing.
final class ChoiceBook: Sendable {
    /// The outcome of a write.
    enum Effect: Sendable, Hashable {
        case applied
        /// Already applied, under the same key.
        case repeated
        case refused
    }

    private struct State {
        var favourites: [String: Set<String>] = [:]
        var ratings: [String: [String: Int]] = [:]
        var answers: [String: APIResponse] = [:]
    }

    private let state = Mutex(State())

    func favourites(of user: String) -> Set<String> {
        state.withLock { $0.favourites[user, default: []] }
    }

    func ratings(of user: String) -> [String: Int] {
        state.withLock { $0.ratings[user, default: [:]] }
    }

    /// Applies a request of a user, unless it was already applied under its key.
    func answer(
        _ request: APIRequest,
        of user: String,
        in catalogue: RestaurantCatalogue
    ) -> (response: APIResponse, effect: Effect) {
        // One critical section, so that only one of two concurrent requests with the same key is applied.
        state.withLock { state in
            let key = request.idempotencyKey.map { "\(user) \($0)" }
            if let key, let known = state.answers[key] { return (known, .repeated) }
            if let refusal = Self.refusal(of: request, in: catalogue) { return (refusal, .refused) }
            Self.apply(request, of: user, to: &state)
            let response = APIResponse(status: 204, body: [])
            if let key { state.answers[key] = response }
            return (response, .applied)
        }
    }

    private static func refusal(
        of request: APIRequest,
        in catalogue: RestaurantCatalogue
    ) -> APIResponse? {
        guard request.path.count == 4 else { return .failure(404, "there is nothing here") }
        let isKnown = catalogue.entry(request.path[3]) != nil
        switch (request.method, request.path[2]) {
        case ("DELETE", "favourites"): return nil
        case ("PUT", "favourites") where isKnown: return nil
        case ("PUT", "ratings") where isKnown:
            let stars = request.decoded(as: RatingForm.self)?.stars ?? 0
            return (1...5).contains(stars) ? nil : .failure(422, "stars must be from 1 to 5")
        case ("PUT", "favourites"), ("PUT", "ratings"):
            return .failure(404, "there is no such restaurant")
        default: return .failure(405, "this method is not allowed")
        }
    }

    private static func apply(_ request: APIRequest, of user: String, to state: inout State) {
        let id = request.path[3]
        if request.path[2] == "ratings" {
            let stars = request.decoded(as: RatingForm.self)?.stars
            state.ratings[user, default: [:]][id] = stars
        } else if request.method == "PUT" {
            state.favourites[user, default: []].insert(id)
        } else {
            state.favourites[user, default: []].remove(id)
        }
    }
}

private struct RatingForm: Decodable {
    let stars: Int
}
