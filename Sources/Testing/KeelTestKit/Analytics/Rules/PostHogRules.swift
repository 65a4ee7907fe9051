import KeelHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension AnalyticsServerDouble {
    /// PostHog's capture API: `POST /batch`, with one accepted key.
    ///
    /// Like PostHog, it answers 200 even if it drops invalid events; see ``refusals``. Events are deduplicated by
    /// `uuid`.
    public static func postHog(projectKey: String) -> AnalyticsServerDouble {
        AnalyticsServerDouble(PostHogRules(projectKey: projectKey))
    }
}

private struct PostHogRules: VendorRules {
    let projectKey: String

    private static let bareIDs: Set<String> = [
        "anonymous", "guest", "distinctid", "distinct_id", "id", "not_authenticated", "email",
        "undefined", "true", "false", "[object object]", "nan", "none", "null", "0",
    ]

    func judge(_ request: VendorRequest) -> VendorVerdict {
        guard request.method == "POST", ["/batch", "/batch/"].contains(request.path) else {
            return .refused(404, "no such path")
        }
        guard request.body.count <= 20 * 1024 * 1024 else {
            return .refused(413, "the request has more than 20 MB")
        }
        guard let json = request.json, let batch = json["batch"]?.elements, !batch.isEmpty else {
            return .refused(400, "the body is not JSON with a batch")
        }
        guard json["api_key"]?.text == projectKey else {
            return .refused(401, "the project's key is wrong")
        }
        if let sent = json["sent_at"], sent.text.flatMap({ InternetDate.parse($0) }) == nil {
            return .refused(400, "sent_at is not ISO 8601")
        }
        var verdict = VendorVerdict(body: { _ in #"{"status":1}"# })
        for event in batch {
            if let fault = fault(in: event) {
                verdict.refusals.append(fault)
                continue
            }
            let id = event["uuid"]?.text?.lowercased() ?? ""
            verdict.counted.append(
                VendorVerdict.Counted(
                    event: .init(
                        name: event["event"]?.text ?? "",
                        id: id,
                        subject: subject(of: event),
                        json: event.compact
                    ),
                    key: id
                )
            )
        }
        return verdict
    }

    private func subject(of event: VendorJSON) -> String {
        event["distinct_id"]?.text ?? event["properties"]?["distinct_id"]?.text ?? ""
    }

    private func fault(in event: VendorJSON) -> String? {
        guard event.size <= 1_000_000 else { return "the event has more than 1 MB" }
        guard let name = event["event"]?.text, !name.isEmpty else { return "no event" }
        guard let uuid = event["uuid"]?.text, UUID(uuidString: uuid) != nil else {
            return "uuid is not a UUID"
        }
        guard let time = event["timestamp"]?.text, InternetDate.parse(time) != nil else {
            return "timestamp is not ISO 8601"
        }
        let id = subject(of: event)
        guard (1...200).contains(id.count), !Self.bareIDs.contains(id.lowercased()) else {
            return "distinct_id identifies nobody"
        }
        guard let properties = event["properties"], properties.members != nil else {
            return "properties is not an object"
        }
        guard properties["$lib"]?.text != nil else { return "no $lib" }
        switch name {
        case "$screen" where properties["$screen_name"]?.text == nil:
            return "a $screen without $screen_name"
        case "$identify" where properties["$anon_distinct_id"]?.text == nil:
            return "an $identify without $anon_distinct_id"
        case "$set" where (properties["$set"] ?? event["$set"])?.members == nil:
            return "a $set without $set"
        default:
            return nil
        }
    }
}
