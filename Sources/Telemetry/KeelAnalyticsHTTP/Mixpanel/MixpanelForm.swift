import KeelAnalytics
import KeelCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Encodes records for Mixpanel: as an event, a profile update, or both.
struct MixpanelForm: Sendable {
    struct Parts {
        var event: [UInt8]?
        var profile: [UInt8]?
    }

    let token: AccessToken

    private let rules = ValueRules(
        textLimit: VendorLimits.Mixpanel.text,
        countLimit: VendorLimits.Mixpanel.count,
        depthLimit: VendorLimits.Mixpanel.depth
    )

    func parts(of record: AnalyticsRecord) throws(AnalyticsRejection) -> Parts {
        try record.check(by: rules)
        try Self.check(record.userID)
        try Self.check(record.anonymousID)
        let limit = VendorLimits.Mixpanel.count - Self.ownProperties.count - 1
        guard record.properties.count <= limit else {
            throw AnalyticsRejection(
                "tooManyProperties",
                "There are \(record.properties.count) properties; at most \(limit) are accepted."
            )
        }
        var parts = Parts()
        if let name = try eventName(of: record) {
            parts.event = try event(name, of: record).atMost(VendorLimits.Mixpanel.eventBytes)
        }
        if record.kind == .userProperties || !record.userProperties.isEmpty {
            parts.profile = try profile(of: record).atMost(VendorLimits.Mixpanel.eventBytes)
        }
        return parts
    }

    private func eventName(of record: AnalyticsRecord) throws(AnalyticsRejection) -> String? {
        switch record.kind {
        case .event(let name):
            guard !VendorLimits.Mixpanel.reservedNames.contains(name) else {
                throw .reservedName("Mixpanel")
            }
            return name
        case .screen: return Self.screenViewed
        case .identify: return "$identify"
        case .userProperties: return nil
        }
    }

    private static func check(_ id: String?) throws(AnalyticsRejection) {
        guard let id else { return }
        guard !id.isEmpty, !VendorLimits.Mixpanel.refusedIDs.contains(id.lowercased()) else {
            throw .invalidUser("Mixpanel does not accept the user's identifier.")
        }
    }

    /// The user, or a device with the prefix that Mixpanel expects for anonymous users.
    private func distinctID(of record: AnalyticsRecord) -> String {
        record.userID ?? "$device:\(record.anonymousID)"
    }

    private func event(_ name: String, of record: AnalyticsRecord) -> [UInt8] {
        JSONWriter.object { writer in
            writer.member("event", name)
            writer.object("properties") { writer in
                rules.write(properties(of: record), to: &writer, except: Self.ownProperties)
                writer.member("time", record.time.milliseconds)
                writer.member("distinct_id", distinctID(of: record))
                writer.member("$insert_id", record.id)
                writer.member("$device_id", record.anonymousID)
                writer.member("$user_id", record.userID)
                write(record.context, to: &writer)
                writer.member("session_id", record.session?.id)
                writer.member("mp_lib", LibraryName.name)
                writer.member("$lib_version", LibraryName.version)
            }
        }
    }

    private func properties(of record: AnalyticsRecord) -> [String: AnalyticsValue] {
        guard case .screen(let name) = record.kind else { return record.properties }
        return record.properties.merging([Self.screenName: .string(name)]) { $1 }
    }

    private func write(_ context: AnalyticsContext, to writer: inout JSONWriter) {
        writer.member("$app_name", context.appName)
        writer.member("$app_version_string", context.appVersion)
        writer.member("$app_build_number", context.appBuild)
        writer.member("$os", context.systemName)
        writer.member("$os_version", context.systemVersion)
        writer.member("$model", context.deviceModel)
        writer.member("$locale", context.locale)
        writer.member("$timezone", context.timeZone)
    }

    private func profile(of record: AnalyticsRecord) -> [UInt8] {
        JSONWriter.object { writer in
            writer.member("$token", token.value)
            writer.member("$distinct_id", distinctID(of: record))
            writer.member("$time", record.time.milliseconds)
            writer.object("$set") { rules.write(record.userProperties, to: &$0) }
        }
    }

    /// The event and property names for screens, for which Mixpanel has no standard.
    private static let screenViewed = "Screen Viewed"
    private static let screenName = "screen_name"

    /// Reserved properties; an event's properties of the same names are omitted.
    private static let ownProperties: Set<String> = [
        "time", "distinct_id", "$insert_id", "$device_id", "$user_id", "$app_name",
        "$app_version_string", "$app_build_number", "$os", "$os_version", "$model", "$locale",
        "$timezone", "session_id", "mp_lib", "$lib_version", "token",
    ]
}
