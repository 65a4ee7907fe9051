import KeelAnalytics

/// Rules about the parts of a record that several vendors share.
extension AnalyticsRecord {
    /// Who it is about, as vendors with one identifier name it: the user once known.
    var distinctID: String { userID ?? anonymousID }

    /// The user who became known.
    ///
    /// - Returns: The user's identifier.
    /// - Throws: `AnalyticsRejection` where there is none: the record says nothing then.
    func identifiedUser() throws(AnalyticsRejection) -> String {
        guard let userID, !userID.isEmpty else {
            throw AnalyticsRejection("missingUser", "A user became known, but has no identifier.")
        }
        return userID
    }

    /// Checks what destinations without rules of their own ask for: values that can be written, a
    /// name, and a user where one became known.
    func check(by rules: ValueRules) throws(AnalyticsRejection) {
        try rules.check(properties)
        try rules.check(userProperties)
        switch kind {
        case .event(let name), .screen(let name):
            guard !name.isEmpty else { throw .emptyName }
        case .identify:
            _ = try identifiedUser()
        case .userProperties:
            break
        }
    }
}

extension AnalyticsRejection {
    /// A record that has too many bytes in its vendor's form.
    static func tooLarge(_ bytes: Int, limit: Int) -> AnalyticsRejection {
        AnalyticsRejection("tooLarge", "The record has \(bytes) bytes; at most \(limit) are taken.")
    }

    /// A name of an event or a screen that is empty.
    static let emptyName = AnalyticsRejection("invalidName", "The event or screen has no name.")

    /// A name of an event that has a meaning of its own at a vendor.
    static func reservedName(_ vendor: String) -> AnalyticsRejection {
        AnalyticsRejection("reservedName", "\(vendor) keeps this event's name for itself.")
    }

    /// An identifier of a user that the vendor refuses.
    static func invalidUser(_ detail: String) -> AnalyticsRejection {
        AnalyticsRejection("invalidIdentifier", detail)
    }
}

extension [UInt8] {
    /// Returns the bytes if they are not too many.
    func atMost(_ limit: Int) throws(AnalyticsRejection) -> [UInt8] {
        guard count <= limit else { throw .tooLarge(count, limit: limit) }
        return self
    }
}
