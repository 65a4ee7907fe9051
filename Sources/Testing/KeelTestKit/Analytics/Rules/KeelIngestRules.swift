extension AnalyticsServerDouble {
    /// Keel's own ingest: `POST /v1/analytics/batch`.
    ///
    /// The response says for each record whether it was accepted, was a duplicate or was refused. Records are
    /// deduplicated by `id`.
    ///
    /// - Parameter token: The required bearer token; nil requires none.
    /// - Returns: The double.
    public static func keel(token: String? = nil) -> AnalyticsServerDouble {
        AnalyticsServerDouble(KeelIngestRules(token: token))
    }
}

private struct KeelIngestRules: VendorRules {
    let token: String?

    func judge(_ request: VendorRequest) -> VendorVerdict {
        guard request.method == "POST", request.path == "/v1/analytics/batch" else {
            return .refused(404, "no such path")
        }
        guard token == nil || request.bearerToken == token else {
            return .refused(401, "the token is wrong")
        }
        guard request.body.count <= 1024 * 1024 else {
            return .refused(413, "the request has more than 1 MiB")
        }
        guard let json = request.json, json["version"]?.integer == 1,
            let records = json["records"]?.elements, !records.isEmpty
        else { return .refused(400, "the body is not version 1 with records") }
        var verdict = VendorVerdict()
        var refused: [VendorJSON] = []
        for record in records {
            let id = record["id"]?.text ?? ""
            if let fault = fault(in: record) {
                verdict.refusals.append(fault)
                refused.append(
                    .object(["id": .text(id), "reason": .text("invalid"), "detail": .text(fault)])
                )
                continue
            }
            verdict.counted.append(
                VendorVerdict.Counted(
                    event: .init(
                        name: record["name"]?.text ?? record["kind"]?.text ?? "",
                        id: id,
                        subject: (record["userId"] ?? record["anonymousId"])?.text ?? "",
                        json: record.compact
                    ),
                    key: id
                )
            )
        }
        let ids = verdict.counted.map { VendorJSON.text($0.event.id) }
        verdict.body = { isNew in
            let pairs = zip(ids, isNew)
            return VendorJSON.object([
                "accepted": .array(pairs.filter { $0.1 }.map { $0.0 }),
                "duplicates": .array(pairs.filter { !$0.1 }.map { $0.0 }),
                "rejected": .array(refused),
            ]).compact
        }
        return verdict
    }

    private func fault(in record: VendorJSON) -> String? {
        guard record["id"]?.text?.isEmpty == false else { return "no id" }
        guard record["time"]?.integer != nil else { return "time is not a number of milliseconds" }
        guard record["anonymousId"]?.text?.isEmpty == false else { return "no anonymousId" }
        guard record["purpose"]?.text != nil else { return "no purpose" }
        guard record["context"]?.members != nil else { return "no context" }
        switch record["kind"]?.text {
        case "event", "screen":
            return record["name"]?.text?.isEmpty == false ? nil : "no name"
        case "identify":
            return record["userId"]?.text?.isEmpty == false ? nil : "no userId"
        case "userProperties":
            return nil
        default:
            return "the kind is unknown"
        }
    }
}
