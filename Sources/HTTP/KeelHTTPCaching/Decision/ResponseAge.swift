import HTTPTypes
import KeelCache

/// The age of a stored response (RFC 9111 section 4.2.3).
enum ResponseAge {
    /// Returns the age in whole seconds.
    static func seconds(of response: StoredResponse, at now: CacheInstant) -> Int64 {
        let received = response.received.seconds
        let apparent = date(of: response.fields, received: response.received).map {
            max(0, received - $0)
        }
        let delay = response.received.secondsSince(response.requested)
        let corrected = held(ageField(response.fields) + delay)
        let initial = max(held(apparent ?? 0), corrected)
        return held(initial + held(now.secondsSince(response.received)))
    }

    /// Returns the first member of the `Age` field, or 0 if it is not a number (section 5.1).
    static func ageField(_ fields: HTTPFields) -> Int64 {
        guard let line = fields[values: .age].first else { return 0 }
        return DeltaSeconds(FieldList.members(line).first).valid ?? 0
    }

    /// Returns when the response was made, or nil if its `Date` is missing or invalid.
    static func date(of fields: HTTPFields, received: CacheInstant) -> Int64? {
        guard let text = fields[values: .date].first else { return nil }
        return CacheDate.seconds(text, now: received.seconds)
    }

    private static func held(_ seconds: Int64) -> Int64 { min(seconds, DeltaSeconds.limit) }
}
