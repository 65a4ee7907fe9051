#if Logging

internal import KeelCore

/// An `ExportLogsServiceRequest`: the records of one process, grouped by logger label.
struct OTLPRequest {
    private let resource: [(key: String, value: String)]
    private var labels: [String] = []
    private var records: [String: [ArraySlice<UInt8>]] = [:]

    init(_ stored: some Sequence<StoredLogRecord>, resource: [(key: String, value: String)]) {
        self.resource = resource
        for record in stored {
            if records[record.label] == nil { labels.append(record.label) }
            records[record.label, default: []].append(record.message)
        }
    }

    // MARK: Protocol Buffers

    func protobuf() -> [UInt8] {
        var writer = ProtobufWriter()
        writer.message(OTLPFields.Request.resourceLogs) { logs in
            logs.message(OTLPFields.ResourceLogs.resource) { message in
                for (key, value) in resource {
                    message.attribute(OTLPFields.Resource.attributes, key, value)
                }
            }
            for label in labels {
                logs.message(OTLPFields.ResourceLogs.scopeLogs) { scope in
                    scope.message(OTLPFields.ScopeLogs.scope) {
                        $0.string(OTLPFields.Scope.name, label)
                    }
                    for record in records[label] ?? [] {
                        scope.data(OTLPFields.ScopeLogs.logRecords, record)
                    }
                }
            }
        }
        return writer.bytes
    }

    // MARK: JSON

    func json() -> [UInt8] {
        var json = OTLPJSON()
        json.open(#"{"resourceLogs":[{"resource":{"attributes":["#)
        for (index, attribute) in resource.enumerated() {
            if index > 0 { json.open(",") }
            json.attribute(attribute.key, attribute.value)
        }
        json.open(#"]},"scopeLogs":["#)
        for (index, label) in labels.enumerated() {
            json.open(index > 0 ? #",{"scope":{"name":"# : #"{"scope":{"name":"#)
            json.text(label)
            json.open(#"},"logRecords":["#)
            for (position, record) in (records[label] ?? []).enumerated() {
                if position > 0 { json.open(",") }
                json.logRecord(record)
            }
            json.open("]}")
        }
        json.open("]}]}")
        return json.bytes
    }
}

#endif
