import HTTPTypes
import KeelCache

/// A response as a cache keeps it, without its body.
struct StoredResponse: Hashable, Sendable {
    /// The status with its reason phrase.
    var status: HTTPResponse.Status
    /// The fields that may be kept.
    var fields: HTTPFields
    /// The request's fields that selected this response, in the form in which they are compared; a
    /// field that the request did not have has nil.
    var selectors: [Selector]
    /// When the request was sent.
    var requested: CacheInstant
    /// When the response's head came.
    var received: CacheInstant
    /// What the body is found by.
    var body: BodyID
    /// How many bytes are kept.
    var length: Int
    /// Which part of the representation is kept; nil for all of it.
    var part: StoredPart?
    /// Whether it was found to be out of date, so that it needs validation whatever its age.
    var isOutdated = false
    /// What it can be removed by, beside its address.
    var groups: [String] = []

    /// One field that `Vary` names.
    struct Selector: Hashable, Sendable {
        var name: String
        var value: String?
    }

    /// Names a body.
    struct BodyID: Hashable, Sendable {
        var high: UInt64
        var low: UInt64
    }

    /// The part of a representation that a response with status 206 brought.
    struct StoredPart: Hashable, Sendable {
        /// Where it begins.
        var first: Int64
        /// The length of the whole representation, where it is known.
        var total: Int64?
    }
}

extension CacheInstant {
    /// Whole seconds since 1970, as HTTP counts them.
    var seconds: Int64 {
        let (quotient, remainder) = microseconds.quotientAndRemainder(dividingBy: 1_000_000)
        return remainder < 0 ? quotient - 1 : quotient
    }

    /// How many whole seconds have passed since an earlier point; zero where time ran backwards.
    func secondsSince(_ earlier: CacheInstant) -> Int64 {
        let (difference, overflows) = microseconds.subtractingReportingOverflow(
            earlier.microseconds
        )
        return overflows ? 0 : max(0, difference / 1_000_000)
    }
}
