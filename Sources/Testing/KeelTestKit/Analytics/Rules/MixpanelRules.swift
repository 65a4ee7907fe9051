internal import KeelCore

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension AnalyticsServerDouble {
    /// Mixpanel's ingestion: `POST /import`, which accepts the secret in place of the token, `/track` and `/engage`, as
    /// JSON or as an HTML form.
    ///
    /// `/import` accepts the valid events of a request and lists the others, with status 400. Events are deduplicated
    /// by name, time, user and `$insert_id`.
    public static func mixpanel(
        token: String,
        secret: String? = nil,
        now: @escaping @Sendable () -> Date = { Date() }
    ) -> AnalyticsServerDouble {
        AnalyticsServerDouble(MixpanelRules(token: token, secret: secret, now: now))
    }
}

private struct MixpanelRules: VendorRules {
    let token: String
    let secret: String?
    let now: @Sendable () -> Date

    func judge(_ request: VendorRequest) -> VendorVerdict {
        guard request.method == "POST" else { return .refused(404, "not a POST") }
        guard request.body.count <= 10_000_000 else {
            return .refused(413, "the request has more than 10 MB")
        }
        guard let json = request.json else {
            return .refused(
                400,
                "not JSON",
                body: #"{"code":400,"error":"invalid JSON","status":0}"#
            )
        }
        let records = json.elements ?? [json]
        let isForm = request.mediaType != "application/json"
        let isVerbose = request.query["verbose"] == "1" || isForm
        switch request.path {
        case "/import":
            guard let user = request.basicUser, user == token || user == secret else {
                return .refused(401, "wrong token", body: #"{"code":401,"error":"Unauthorized"}"#)
            }
            return imported(records, isStrict: !isForm && request.query["strict"] == "1")
        case "/track":
            return tracked(records)
        case "/engage":
            return engaged(records, isStrict: request.query["strict"] == "1", isVerbose)
        default:
            return .refused(404, "no such path")
        }
    }

    // MARK: Events

    private func imported(_ events: [VendorJSON], isStrict: Bool) -> VendorVerdict {
        guard events.count <= 2000 else {
            return .refused(413, "the request has more than 2000 events")
        }
        var (verdict, failures) = sorted(events) { MixpanelEvent($0).fault(now: now()) }
        let count = verdict.counted.count
        if failures.isEmpty {
            // The vendor's client looks for the number; the vendor's pages show a string.
            verdict.body = { _ in
                isStrict
                    ? #"{"code":200,"num_records_imported":\#(count),"status":"OK"}"#
                    : #"{"error":null,"status":1}"#
            }
        } else {
            verdict.status = 400
            let list = failures.joined(separator: ",")
            verdict.body = { _ in
                #"{"code":400,"error":"some data points in the request failed validation","#
                    + #""failed_records":[\#(list)],"num_records_imported":\#(count),"#
                    + #""status":"Bad Request"}"#
            }
        }
        return verdict
    }

    private func tracked(_ events: [VendorJSON]) -> VendorVerdict {
        var (verdict, failures) = sorted(events) { event in
            if event["properties"]?["token"]?.text != token { return ("properties.token", "wrong") }
            guard let fault = MixpanelEvent(event).fault(now: now()) else {
                let age = now().timeIntervalSince1970 - MixpanelEvent(event).seconds
                return age > 5 * 86_400 ? ("properties.time", "older than five days") : nil
            }
            return fault
        }
        let reply =
            failures.isEmpty ? #"{"error":null,"status":1}"# : #"{"error":"invalid","status":0}"#
        verdict.body = { _ in reply }
        return verdict
    }

    private func sorted(
        _ events: [VendorJSON],
        _ fault: (VendorJSON) -> (field: String, message: String)?
    ) -> (VendorVerdict, failures: [String]) {
        var verdict = VendorVerdict()
        var failures: [String] = []
        for (index, json) in events.enumerated() {
            let event = MixpanelEvent(json)
            if let fault = fault(json) {
                verdict.refusals.append("\(fault.field): \(fault.message)")
                failures.append(
                    VendorJSON.object([
                        "index": .integer(Int64(index)), "$insert_id": .text(event.insertID),
                        "field": .text(fault.field), "message": .text(fault.message),
                    ]).compact
                )
                continue
            }
            verdict.counted.append(
                VendorVerdict.Counted(
                    event: .init(
                        name: event.name,
                        id: event.insertID,
                        subject: event.distinctID,
                        json: json.compact
                    ),
                    key: [event.name, "\(event.seconds)", event.distinctID, event.insertID]
                        .joined(separator: "\u{1F}")
                )
            )
        }
        return (verdict, failures)
    }

    // MARK: Profiles

    private static let operations: Set<String> = [
        "$set", "$set_once", "$add", "$union", "$append", "$remove", "$unset", "$delete",
    ]

    private func engaged(
        _ updates: [VendorJSON],
        isStrict: Bool,
        _ isVerbose: Bool
    ) -> VendorVerdict {
        var (verdict, failures) = sorted(updates) { update in
            guard update["$token"]?.text == token else { return ("$token", "wrong") }
            guard let id = update["$distinct_id"]?.text, MixpanelEvent.identifies(id) else {
                return ("$distinct_id", "identifies nobody")
            }
            let operations = Self.operations.intersection((update.members ?? [:]).keys)
            guard operations.count == 1, let operation = operations.first else {
                return ("", "not one operation")
            }
            guard let members = update[operation]?.members else { return (operation, "no object") }
            guard members.count < 255 else { return (operation, "more than 254 properties") }
            return nil
        }
        // Profile updates have no ids, because setting a value twice is idempotent. Each update is reported as an
        // event.
        verdict.counted = verdict.counted.map { counted in
            let json = VendorJSON(Array(counted.event.json.utf8))
            let event = AnalyticsServerDouble.Event(
                name: "$engage",
                id: "",
                subject: json?["$distinct_id"]?.text ?? "",
                json: counted.event.json
            )
            return VendorVerdict.Counted(event: event, key: "")
        }
        let list = failures.joined(separator: ",")
        verdict.body = { _ in
            switch (failures.isEmpty, isStrict, isVerbose) {
            case (true, _, true): #"{"error":null,"status":1}"#
            case (true, _, false): "1"
            case (false, true, _):
                #"{"code":400,"error":"some records failed","failed_records":[\#(list)],"status":0}"#
            case (false, false, true): #"{"error":"invalid","status":0}"#
            case (false, false, false): "0"
            }
        }
        return verdict
    }
}

private struct MixpanelEvent {
    let json: VendorJSON

    init(_ json: VendorJSON) { self.json = json }

    var properties: VendorJSON? { json["properties"] }
    var name: String { json["event"]?.text ?? "" }
    var insertID: String { properties?["$insert_id"]?.text ?? "" }
    var distinctID: String { properties?["distinct_id"]?.text ?? "" }

    /// The time in seconds since 1970; larger numbers are milliseconds.
    var seconds: Double {
        let time = properties?["time"]?.number ?? 0
        return time > 100_000_000_000 ? time / 1000 : time
    }

    private static let nobody: Set<String> = [
        "00000000-0000-0000-0000-000000000000", "anon", "anonymous", "nil", "none", "null", "n/a",
        "na", "undefined", "unknown", "<nil>", "0", "-1", "true", "false", "[]", "{}",
    ]

    static func identifies(_ id: String) -> Bool { !nobody.contains(id.lowercased()) }

    func fault(now: Date) -> (field: String, message: String)? {
        guard !name.isEmpty else { return ("event", "is missing") }
        guard let members = properties?.members else { return ("properties", "is missing") }
        guard members.count < 255 else { return ("properties", "has more than 254 members") }
        guard json.size < 1_000_000 else { return ("", "is larger than 1 MB") }
        guard properties?["time"]?.number != nil, seconds > 31_536_000,
            seconds < now.timeIntervalSince1970 + 3600
        else { return ("properties.time", "is not a time since 1971") }
        guard properties?["distinct_id"]?.text != nil, Self.identifies(distinctID) else {
            return ("properties.distinct_id", "identifies nobody")
        }
        let isPlain = insertID.utf8.allSatisfy { $0.isASCIIAlphanumeric || $0 == 0x2D }
        guard (1...36).contains(insertID.utf8.count), isPlain, Self.identifies(insertID) else {
            return ("properties.$insert_id", "is not 1 to 36 letters, digits and hyphens")
        }
        for (name, value) in members {
            guard value.depth <= 3 else { return ("properties.\(name)", "is nested too deep") }
            guard value.isSlim else { return ("properties.\(name)", "has more than 254 members") }
        }
        return nil
    }
}

extension VendorJSON {
    fileprivate var isSlim: Bool {
        switch self {
        case .array(let elements): elements.count < 255 && elements.allSatisfy(\.isSlim)
        case .object(let members): members.count < 255 && members.values.allSatisfy(\.isSlim)
        default: true
        }
    }
}
