import KeelHTTP

extension AnalyticsServerDouble {
    /// Segment's HTTP Tracking API: `POST /v1/batch`, with one accepted key.
    ///
    /// Like Segment, it answers 200 even if it drops invalid events; see ``refusals``. A request with an event of more
    /// than 32 KB is refused. Events are deduplicated by `messageId`.
    public static func segment(writeKey: String) -> AnalyticsServerDouble {
        AnalyticsServerDouble(SegmentRules(writeKey: writeKey))
    }
}

private struct SegmentRules: VendorRules {
    let writeKey: String

    func judge(_ request: VendorRequest) -> VendorVerdict {
        guard request.method == "POST", ["/v1/batch", "/v1/b", "/v1/import"].contains(request.path)
        else { return .refused(404, "no such path") }
        guard request.body.count <= 500_000 else {
            return .refused(400, "the request has more than 500 KB")
        }
        guard let json = request.json, let batch = json["batch"]?.elements else {
            return .refused(400, "the body is not JSON with a batch")
        }
        guard (request.basicUser ?? json["writeKey"]?.text) == writeKey else {
            return .refused(401, "the write key is wrong")
        }
        guard batch.allSatisfy({ $0.size <= 32 * 1024 }) else {
            return .refused(400, "an event has more than 32 KB")
        }
        var verdict = VendorVerdict(body: { _ in #"{"success":true}"# })
        for (index, event) in batch.enumerated() {
            if let fault = index < 2500 ? fault(in: event) : "more than 2500 events" {
                verdict.refusals.append(fault)
                continue
            }
            let id = event["messageId"]?.text ?? ""
            let type = event["type"]?.text ?? ""
            verdict.counted.append(
                VendorVerdict.Counted(
                    event: .init(
                        name: event["event"]?.text ?? event["name"]?.text ?? type,
                        id: id,
                        subject: event["userId"]?.text ?? event["anonymousId"]?.text ?? "",
                        json: event.compact
                    ),
                    key: id
                )
            )
        }
        return verdict
    }

    private func fault(in event: VendorJSON) -> String? {
        guard let type = event["type"]?.text,
            ["track", "screen", "page", "identify", "group", "alias"].contains(type)
        else { return "the type is unknown" }
        guard let id = event["messageId"]?.text, (1..<100).contains(id.count) else {
            return "messageId is not 1 to 99 characters"
        }
        guard
            event["userId"]?.text?.isEmpty == false || event["anonymousId"]?.text?.isEmpty == false
        else { return "neither userId nor anonymousId" }
        guard let time = event["timestamp"]?.text, InternetDate.parse(time) != nil else {
            return "timestamp is not ISO 8601"
        }
        if type == "track", event["event"]?.text?.isEmpty != false {
            return "a track without event"
        }
        for name in ["properties", "traits", "context", "integrations"] {
            if let member = event[name], member.members == nil { return "\(name) is not an object" }
        }
        guard event["context"]?["library"]?["name"]?.text != nil else {
            return "context.library has no name"
        }
        return nil
    }
}
