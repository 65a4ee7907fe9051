import KeelAnalytics

struct IngestForm: Sendable {
    private let rules = ValueRules.lenient

    func bytes(of record: AnalyticsRecord) throws(AnalyticsRejection) -> [UInt8] {
        try record.check(by: rules)
        let bytes = JSONWriter.object { writer in write(record, to: &writer) }
        return try bytes.atMost(VendorLimits.KeelServer.eventBytes)
    }

    private func write(_ record: AnalyticsRecord, to writer: inout JSONWriter) {
        writer.member("id", record.id)
        switch record.kind {
        case .event(let name):
            writer.member("kind", "event")
            writer.member("name", name)
        case .screen(let name):
            writer.member("kind", "screen")
            writer.member("name", name)
        case .identify:
            writer.member("kind", "identify")
        case .userProperties:
            writer.member("kind", "userProperties")
        }
        writer.member("time", record.time.milliseconds)
        writer.member("userId", record.userID)
        writer.member("anonymousId", record.anonymousID)
        writer.member("purpose", record.purpose.rawValue)
        if let session = record.session {
            writer.object("session") { writer in
                writer.member("id", session.id)
                writer.member("start", session.start.milliseconds)
            }
        }
        if !record.properties.isEmpty {
            writer.object("properties") { rules.write(record.properties, to: &$0) }
        }
        if !record.userProperties.isEmpty {
            writer.object("userProperties") { rules.write(record.userProperties, to: &$0) }
        }
        writer.object("context") { write(record.context, to: &$0) }
    }

    private func write(_ context: AnalyticsContext, to writer: inout JSONWriter) {
        writer.member("appName", context.appName)
        writer.member("appVersion", context.appVersion)
        writer.member("appBuild", context.appBuild)
        writer.member("systemName", context.systemName)
        writer.member("systemVersion", context.systemVersion)
        writer.member("deviceModel", context.deviceModel)
        writer.member("locale", context.locale)
        writer.member("timeZone", context.timeZone)
    }
}
