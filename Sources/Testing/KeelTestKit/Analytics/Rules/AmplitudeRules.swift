#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension AnalyticsServerDouble {
    /// Amplitude's HTTP V2 API: `POST /2/httpapi`, with one accepted key.
    ///
    /// Like Amplitude, it refuses a whole request if one event breaks a rule, lists all such events, and deduplicates
    /// by device or user and `insert_id`.
    public static func amplitude(apiKey: String) -> AnalyticsServerDouble {
        AnalyticsServerDouble(AmplitudeRules(apiKey: apiKey))
    }
}

private struct AmplitudeRules: VendorRules {
    let apiKey: String

    /// The fields of an event that the vendor's page lists, plus one that its libraries add.
    private static let fields: Set<String> = [
        "user_id", "device_id", "event_type", "time", "event_properties", "user_properties",
        "groups", "group_properties", "app_version", "platform", "os_name", "os_version",
        "device_brand", "device_manufacturer", "device_model", "carrier", "country", "region",
        "city", "dma", "language", "price", "quantity", "revenue", "productId", "revenueType",
        "currency", "location_lat", "location_lng", "ip", "idfa", "idfv", "adid", "android_id",
        "event_id", "session_id", "insert_id", "plan", "partner_id", "ingestion_metadata",
        "user_agent", "library", "$skip_user_properties_sync",
    ]

    private static let reserved: Set<String> = [
        "[Amplitude] Start Session", "[Amplitude] End Session", "[Amplitude] Revenue",
        "[Amplitude] Revenue (Verified)", "[Amplitude] Revenue (Unverified)",
        "[Amplitude] Merged User",
    ]

    private static let operations: Set<String> = [
        "$set", "$setOnce", "$add", "$append", "$prepend", "$unset", "$clearAll", "$preInsert",
        "$postInsert", "$remove",
    ]

    func judge(_ request: VendorRequest) -> VendorVerdict {
        guard request.method == "POST", request.path == "/2/httpapi" else {
            return .refused(404, "no such path")
        }
        guard let json = request.json, json.members != nil else {
            return .refused(400, "not JSON", body: #"{"code":400,"error":"Invalid JSON"}"#)
        }
        guard let key = json["api_key"]?.text else {
            let body = #"{"code":400,"error":"Missing field","missing_field":"api_key"}"#
            return .refused(400, "no api_key", body: body)
        }
        guard key == apiKey else {
            let body = #"{"code":400,"error":"Invalid API key: \#(key.prefix(4))"}"#
            return .refused(400, "the API key is wrong", body: body)
        }
        guard let events = json["events"]?.elements, !events.isEmpty else {
            let body = #"{"code":400,"error":"Missing field","missing_field":"events"}"#
            return .refused(400, "no events", body: body)
        }
        guard request.body.count < 1_000_000, events.count < 2000 else {
            let body = #"{"code":413,"error":"Payload too large"}"#
            return .refused(413, "the request is too large", body: body)
        }
        let minimum = Int(json["options"]?["min_id_length"]?.integer ?? 5)
        var lists = Lists()
        for (index, event) in events.enumerated() {
            lists.examine(event, at: index, minimumIDLength: minimum, Self.fields, Self.reserved)
        }
        if lists.isEmpty { return taken(events) }
        let body = lists.body
        return VendorVerdict(status: 400, refusals: lists.reasons, body: { _ in body })
    }

    private func taken(_ events: [VendorJSON]) -> VendorVerdict {
        var verdict = VendorVerdict()
        for event in events {
            let subject = event["user_id"]?.text ?? event["device_id"]?.text ?? ""
            let id = event["insert_id"]?.text ?? ""
            let type = event["event_type"]?.text ?? ""
            verdict.counted.append(
                VendorVerdict.Counted(
                    event: .init(name: type, id: id, subject: subject, json: event.compact),
                    key: id.isEmpty ? "" : "\(event["device_id"]?.text ?? subject) \(id)"
                )
            )
        }
        verdict.body = { isNew in
            #"{"code":200,"events_ingested":\#(isNew.count),"server_upload_time":1}"#
        }
        return verdict
    }

    private struct Lists {
        var missing: [String: [Int]] = [:]
        var invalid: [String: [Int]] = [:]
        var short: [String: [Int]] = [:]

        var isEmpty: Bool { missing.isEmpty && invalid.isEmpty && short.isEmpty }

        var reasons: [String] {
            [("missing", missing), ("invalid", invalid), ("too short", short)].flatMap {
                what,
                list in
                list.sorted { $0.key < $1.key }.map { "\($0.key) is \(what)" }
            }
        }

        var body: String {
            func text(_ list: [String: [Int]]) -> String {
                VendorJSON.object(
                    list.mapValues { .array($0.map { .integer(Int64($0)) }) }
                ).compact
            }
            return #"{"code":400,"error":"Invalid request","events_with_missing_fields":"#
                + text(missing) + #","events_with_invalid_fields":"# + text(invalid)
                + #","events_with_invalid_id_lengths":"# + text(short) + "}"
        }

        mutating func examine(
            _ event: VendorJSON,
            at index: Int,
            minimumIDLength: Int,
            _ fields: Set<String>,
            _ reserved: Set<String>
        ) {
            if event["event_type"] == nil { missing["event_type", default: []].append(index) }
            if event["user_id"] == nil, event["device_id"] == nil {
                missing["user_id", default: []].append(index)
            }
            for name in ["user_id", "device_id"] {
                guard let id = event[name] else { continue }
                if let text = id.text, text.count < minimumIDLength {
                    short[name, default: []].append(index)
                } else if id.text == nil {
                    invalid[name, default: []].append(index)
                }
            }
            for name in (event.members ?? [:]).keys where !isValid(event, name, fields, reserved) {
                invalid[name, default: []].append(index)
            }
        }

        private func isValid(
            _ event: VendorJSON,
            _ name: String,
            _ fields: Set<String>,
            _ reserved: Set<String>
        ) -> Bool {
            guard let value = event[name] else { return true }
            switch name {
            case "event_type":
                guard let type = value.text else { return false }
                return (1...1024).contains(type.count) && !reserved.contains(type)
            case "time": return value.integer.map { $0 > 946_684_800_000 } ?? false
            case "session_id": return value.integer != nil
            case "insert_id", "library", "platform", "os_name", "os_version", "app_version",
                "device_model", "language":
                return value.text != nil
            case "event_properties":
                return value.members != nil && value.depth <= 40
            case "user_properties":
                guard let members = value.members, value.depth <= 41 else { return false }
                guard event["event_type"]?.text == "$identify" else { return true }
                return members.keys.allSatisfy(AmplitudeRules.operations.contains)
            default: return fields.contains(name)
            }
        }
    }
}
