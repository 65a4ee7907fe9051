/// A layer that adds a user's credentials to calls.
///
/// A client looks for such layers when it is created, wherever they are listed. By them it knows
/// whose a call is before a field of the call shows it: an HTTP cache keeps responses of different
/// users apart, and ``CoalescingMiddleware`` does not share them.
///
/// ``BearerAuthorization`` and ``BasicAuthorization`` are such layers. A layer of your own that adds
/// an `Authorization` field, a key or a signature further down has to be one too: otherwise what one
/// user gets may be kept for all.
public protocol HTTPAuthorizing: HTTPMiddleware {
    /// Whose credentials a call made now would get, as a name that is no secret; nil if nobody can
    /// tell, which keeps the call out of caches and from being shared.
    ///
    /// A name must not be given to another user later on. An HTTP cache finds a user's responses
    /// again after a restart if the name is still the same then.
    var identity: String? { get async }
}
