import HTTPTypes
import KeelCache
import KeelHTTP

/// A revalidation shared by several calls.
enum ValidationFlight {
    struct Subject: Hashable, Sendable {
        var list: [UInt8]
        var body: StoredResponse.BodyID
    }

    /// Equal for calls that share a revalidation.
    struct Key: Hashable, Sendable {
        var subject: Subject
        var collection: BodyCollection
    }

    enum Outcome: Sendable {
        /// The stored response is valid, and was updated.
        case stored(StoredResponse)
        /// The origin sent another response, which was read to its end. Waiting calls may use it
        /// only if it was requested in their user's name.
        case replied(HTTPReply, [UInt8], isForAll: Bool)
    }
}
