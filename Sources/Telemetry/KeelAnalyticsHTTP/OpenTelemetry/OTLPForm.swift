import KeelAnalytics

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

struct OTLPEvent: Sendable {
    var record: [UInt8]
    var resource: [UInt8]
}

/// Encodes records as OTLP JSON.
///
/// In Protocol Buffers' JSON, 64-bit numbers are strings, and attribute values name their type.
struct OTLPForm: Sendable {
    /// The size of the rest of the body for a single log record.
    static let envelope = 200

    private let rules = ValueRules.lenient

    func event(of record: AnalyticsRecord) throws(AnalyticsRejection) -> OTLPEvent {
        try record.check(by: rules)
        let bytes = JSONWriter.object { writer in
            // Unsigned, and no app's clock is before 1970.
            let nanoseconds = "\(max(0, record.time.milliseconds))000000"
            writer.member("timeUnixNano", nanoseconds)
            writer.member("observedTimeUnixNano", nanoseconds)
            writer.member("severityNumber", 9)
            writer.member("severityText", "INFO")
            writer.member("eventName", name(of: record))
            writer.array("attributes") { writeAttributes(of: record, to: &$0) }
        }
        return OTLPEvent(
            record: try bytes.atMost(VendorLimits.OpenTelemetry.eventBytes),
            resource: resource(record.context)
        )
    }

    /// Returns the body of a request; adjacent records with the same resource share it.
    func body(of events: [OTLPEvent]) -> [UInt8] {
        JSONWriter.object { writer in
            writer.array("resourceLogs") { writer in
                var start = 0
                while start < events.count {
                    let resource = events[start].resource
                    let end =
                        events[start...].firstIndex { $0.resource != resource } ?? events.count
                    write(events[start..<end], of: resource, to: &writer)
                    start = end
                }
            }
        }
    }

    private func write(
        _ events: ArraySlice<OTLPEvent>,
        of resource: [UInt8],
        to writer: inout JSONWriter
    ) {
        writer.object { writer in
            writer.key("resource")
            writer.raw(resource)
            writer.array("scopeLogs") { writer in
                writer.object { writer in
                    writer.object("scope") { writer in
                        writer.member("name", LibraryName.name)
                        writer.member("version", LibraryName.version)
                    }
                    writer.array("logRecords", of: events.map(\.record))
                }
            }
        }
    }

    // MARK: Attributes

    private func name(of record: AnalyticsRecord) -> String {
        switch record.kind {
        case .event(let name): name
        case .screen: "app.screen.view"
        case .identify: "user.identify"
        case .userProperties: "user.properties"
        }
    }

    private func resource(_ context: AnalyticsContext) -> [UInt8] {
        JSONWriter.object { writer in
            writer.array("attributes") { writer in
                // The only required attribute of a resource, with its default.
                attribute("service.name", context.appName ?? "unknown_service", to: &writer)
                attribute("service.version", context.appVersion, to: &writer)
                attribute("app.build_id", context.appBuild, to: &writer)
                attribute("os.name", context.systemName, to: &writer)
                attribute("os.version", context.systemVersion, to: &writer)
                attribute("device.model.identifier", context.deviceModel, to: &writer)
                attribute("keel.locale", context.locale, to: &writer)
                attribute("keel.time_zone", context.timeZone, to: &writer)
            }
        }
    }

    private func writeAttributes(of record: AnalyticsRecord, to writer: inout JSONWriter) {
        for (name, value) in record.properties.inOrder where !Self.ownAttributes.contains(name) {
            attribute(name, value, to: &writer)
        }
        if !record.userProperties.isEmpty {
            attribute("keel.user.properties", .object(record.userProperties), to: &writer)
        }
        if case .screen(let name) = record.kind {
            attribute("app.screen.name", name, to: &writer)
        }
        attribute("log.record.uid", record.id, to: &writer)
        attribute("user.id", record.userID, to: &writer)
        attribute("app.installation.id", record.anonymousID, to: &writer)
        attribute("session.id", record.session?.id, to: &writer)
    }

    /// Reserved attributes; properties of the same names are omitted.
    private static let ownAttributes: Set<String> = [
        "keel.user.properties", "app.screen.name", "log.record.uid", "user.id",
        "app.installation.id", "session.id",
    ]

    private func attribute(_ name: String, _ text: String?, to writer: inout JSONWriter) {
        guard let text else { return }
        attribute(name, .string(text), to: &writer)
    }

    private func attribute(_ name: String, _ value: AnalyticsValue, to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("key", name)
            writer.key("value")
            write(value, to: &writer)
        }
    }

    private func write(_ value: AnalyticsValue, to writer: inout JSONWriter) {
        writer.object { writer in
            switch value {
            // A value without a type is null.
            case .null: break
            case .boolean(let flag): writer.member("boolValue", flag)
            case .integer(let number): writer.member("intValue", "\(number)")
            case .double(let number):
                guard number.isFinite else { break }
                writer.key("doubleValue")
                writer.value(number)
            case .string(let text): writer.member("stringValue", text)
            case .date(let date): writer.member("stringValue", date.internetText)
            case .array(let elements):
                writer.object("arrayValue") { writer in
                    writer.array("values") { writer in
                        for element in elements { write(element, to: &writer) }
                    }
                }
            case .object(let members):
                writer.object("kvlistValue") { writer in
                    writer.array("values") { writer in
                        for (name, member) in members.inOrder {
                            attribute(name, member, to: &writer)
                        }
                    }
                }
            }
        }
    }
}
