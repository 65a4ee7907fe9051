import HTTPTypes
import KeelCache
import KeelHTTP

/// One revalidation that many calls wait for.
enum ValidationFlight {
    /// What is revalidated.
    struct Subject: Hashable, Sendable {
        var list: [UInt8]
        var body: StoredResponse.BodyID
    }

    /// What makes two calls share a revalidation.
    struct Key: Hashable, Sendable {
        var subject: Subject
        var collection: BodyCollection
    }

    /// What came of it.
    enum Outcome: Sendable {
        /// The stored response is good, with what was learned about it.
        case stored(StoredResponse)
        /// The origin sent another one, which was read to its end; it is for those who wait only if
        /// it was asked for in their user's name.
        case replied(HTTPReply, [UInt8], isForAll: Bool)
    }
}
