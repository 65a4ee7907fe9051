import HTTPTypes
import KeelCache
import KeelHTTP

/// A stored response, without its body.
struct StoredResponse: Hashable, Sendable {
    var status: HTTPResponse.Status
    var fields: HTTPFields
    /// The normalized request fields that selected this response; nil for an absent field.
    var selectors: [Selector]
    var requested: CacheInstant
    /// When the response's head was received.
    var received: CacheInstant
    var body: BodyID
    var length: Int
    var part: StoredPart?
    /// Whether it was found to be outdated and needs validation whatever its age.
    var isOutdated = false
    var groups: [String] = []

    /// A field that `Vary` names.
    struct Selector: Hashable, Sendable {
        var name: String
        var value: String?
    }

    struct BodyID: Hashable, Sendable {
        var high: UInt64
        var low: UInt64
    }

    /// The part of a representation that a response with status 206 brought.
    struct StoredPart: Hashable, Sendable {
        var first: Int64
        var total: Int64?
    }
}

extension StoredResponse.StoredPart {
    /// Reads the `Content-Range` field of a response with one part; nil without a valid one.
    init?(_ fields: HTTPFields) {
        let range = fields[.contentRange].flatMap { ContentRange($0) }
        guard let range, let positions = range.positions else { return nil }
        self.init(first: positions.lowerBound, total: range.total)
    }
}

extension CacheInstant {
    /// Whole seconds since 1970, as HTTP counts them.
    var seconds: Int64 {
        let (quotient, remainder) = microseconds.quotientAndRemainder(dividingBy: 1_000_000)
        return remainder < 0 ? quotient - 1 : quotient
    }

    /// Returns the whole seconds since an earlier instant; zero if the clock went backwards.
    func secondsSince(_ earlier: CacheInstant) -> Int64 {
        let (difference, overflows) = microseconds.subtractingReportingOverflow(
            earlier.microseconds
        )
        return overflows ? 0 : max(0, difference / 1_000_000)
    }
}
