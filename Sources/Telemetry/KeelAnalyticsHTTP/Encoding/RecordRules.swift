import KeelAnalytics

extension AnalyticsRecord {
    /// The user if known, otherwise the anonymous id, for vendors with a single identifier.
    var distinctID: String { userID ?? anonymousID }

    /// Returns the id of the user of an identification, or throws if there is none.
    func identifiedUser() throws(AnalyticsRejection) -> String {
        guard let userID, !userID.isEmpty else {
            throw AnalyticsRejection("missingUser", "The identified user has no identifier.")
        }
        return userID
    }

    /// Checks the properties, the name and the identified user, for vendors without further rules.
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
    static func tooLarge(_ bytes: Int, limit: Int) -> AnalyticsRejection {
        AnalyticsRejection(
            "tooLarge",
            "The record has \(bytes) bytes; at most \(limit) are accepted."
        )
    }

    static let emptyName = AnalyticsRejection("invalidName", "The event or screen has no name.")

    static func reservedName(_ vendor: String) -> AnalyticsRejection {
        AnalyticsRejection("reservedName", "\(vendor) reserves this event's name.")
    }

    static func invalidUser(_ detail: String) -> AnalyticsRejection {
        AnalyticsRejection("invalidIdentifier", detail)
    }
}

extension [UInt8] {
    func atMost(_ limit: Int) throws(AnalyticsRejection) -> [UInt8] {
        guard count <= limit else { throw .tooLarge(count, limit: limit) }
        return self
    }
}
