import KeelAnalytics

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

struct AmplitudeEvent: Sendable {
    let bytes: [UInt8]
    let userID: String?
    let deviceID: String
}

struct AmplitudeForm: Sendable {
    let minimumIDLength: Int

    private let rules = ValueRules(
        textLimit: VendorLimits.Amplitude.text,
        nameLimit: VendorLimits.Amplitude.name,
        countLimit: VendorLimits.Amplitude.count,
        depthLimit: VendorLimits.Amplitude.depth
    )

    func event(of record: AnalyticsRecord) throws(AnalyticsRejection) -> AmplitudeEvent {
        try record.check(by: rules)
        try check(record.userID, "user's")
        try check(record.anonymousID, "device's")
        let type = try type(of: record)
        let bytes = JSONWriter.object { writer in
            writer.member("event_type", type)
            writer.member("insert_id", record.id)
            writer.member("time", record.time.milliseconds)
            writer.member("user_id", record.userID)
            writer.member("device_id", record.anonymousID)
            writer.member("session_id", record.session?.start.milliseconds)
            writeProperties(of: record, to: &writer)
            write(record.context, to: &writer)
            writer.member("library", LibraryName.full)
        }
        return AmplitudeEvent(bytes: bytes, userID: record.userID, deviceID: record.anonymousID)
    }

    private func type(of record: AnalyticsRecord) throws(AnalyticsRejection) -> String {
        switch record.kind {
        case .screen: return Self.screenViewed
        case .identify, .userProperties: return "$identify"
        case .event(let name):
            guard !VendorLimits.Amplitude.reservedNames.contains(name) else {
                throw .reservedName("Amplitude")
            }
            let limit = VendorLimits.Amplitude.name
            guard name.utf16.count <= limit else {
                throw AnalyticsRejection(
                    "invalidName",
                    "The event's name has more than \(limit) characters."
                )
            }
            return name
        }
    }

    private func check(_ id: String?, _ whose: String) throws(AnalyticsRejection) {
        guard let id else { return }
        guard id.utf16.count >= minimumIDLength else {
            throw .invalidUser(
                "The \(whose) identifier has fewer than \(minimumIDLength) characters; "
                    + "lower minimumIDLength to allow it."
            )
        }
        // Amplitude refuses texts that a failed conversion leaves behind.
        guard !VendorLimits.Amplitude.refusedIDs.contains(id.lowercased()) else {
            throw .invalidUser("Amplitude does not accept the \(whose) identifier.")
        }
    }

    private func writeProperties(of record: AnalyticsRecord, to writer: inout JSONWriter) {
        if !record.userProperties.isEmpty {
            writer.object("user_properties") { writer in
                writer.object("$set") { rules.write(record.userProperties, to: &$0) }
            }
        }
        var properties = record.properties
        if case .screen(let name) = record.kind { properties[Self.screenName] = .string(name) }
        guard !properties.isEmpty else { return }
        writer.object("event_properties") { rules.write(properties, to: &$0) }
    }

    private func write(_ context: AnalyticsContext, to writer: inout JSONWriter) {
        writer.member("app_version", context.appVersion)
        writer.member("platform", context.systemName)
        writer.member("os_name", context.systemName)
        writer.member("os_version", context.systemVersion)
        writer.member("device_model", context.deviceModel)
        writer.member("language", context.locale)
    }

    /// The names that Amplitude's own libraries use for screens.
    private static let screenViewed = "[Amplitude] Screen Viewed"
    private static let screenName = "[Amplitude] Screen Name"
}
