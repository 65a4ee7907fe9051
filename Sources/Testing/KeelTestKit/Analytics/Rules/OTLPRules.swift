extension AnalyticsServerDouble {
    /// An OpenTelemetry collector: `POST /v1/logs` with JSON.
    ///
    /// Invalid log records, such as those without an event name, are refused in `partialSuccess`, which gives only
    /// their number. Nothing is deduplicated.
    ///
    /// - Parameter authorization: The required bearer token; nil requires none.
    /// - Returns: The double.
    public static func openTelemetry(authorization: String? = nil) -> AnalyticsServerDouble {
        AnalyticsServerDouble(OTLPRules(token: authorization))
    }
}

private struct OTLPRules: VendorRules {
    let token: String?

    func judge(_ request: VendorRequest) -> VendorVerdict {
        guard request.method == "POST", request.path == "/v1/logs" else {
            return .refused(404, "no such path")
        }
        guard token == nil || request.bearerToken == token else {
            return .refused(401, "the token is wrong")
        }
        guard let resources = request.json?["resourceLogs"]?.elements else {
            return .refused(400, "the body is not JSON with resourceLogs")
        }
        var verdict = VendorVerdict()
        for resource in resources {
            guard Self.attribute("service.name", of: resource["resource"]) != nil else {
                return .refused(400, "a resource without service.name")
            }
            for scope in resource["scopeLogs"]?.elements ?? [] {
                for record in scope["logRecords"]?.elements ?? [] {
                    if let fault = fault(in: record) {
                        verdict.refusals.append(fault)
                    } else {
                        verdict.counted.append(counted(record))
                    }
                }
            }
        }
        let refused = verdict.refusals.count
        verdict.body = { _ in
            refused == 0
                ? "{}"
                : #"{"partialSuccess":{"rejectedLogRecords":"\#(refused)","errorMessage":""}}"#
        }
        return verdict
    }

    private func counted(_ record: VendorJSON) -> VendorVerdict.Counted {
        let user = Self.attribute("user.id", of: record)
        let subject = user ?? Self.attribute("app.installation.id", of: record)
        return VendorVerdict.Counted(
            event: .init(
                name: record["eventName"]?.text ?? "",
                id: Self.attribute("log.record.uid", of: record)?["stringValue"]?.text ?? "",
                subject: subject?["stringValue"]?.text ?? "",
                json: record.compact
            ),
            key: ""
        )
    }

    private static func attribute(_ name: String, of holder: VendorJSON?) -> VendorJSON? {
        holder?["attributes"]?.elements?.first { $0["key"]?.text == name }?["value"]
    }

    private func fault(in record: VendorJSON) -> String? {
        guard let time = record["timeUnixNano"]?.text, UInt64(time) != nil else {
            return "timeUnixNano is not a text of digits"
        }
        guard record["eventName"]?.text?.isEmpty == false else { return "no eventName" }
        guard let severity = record["severityNumber"]?.integer, (1...24).contains(severity) else {
            return "severityNumber is not 1 to 24"
        }
        for attribute in record["attributes"]?.elements ?? [] {
            guard attribute["key"]?.text?.isEmpty == false, let value = attribute["value"],
                Self.isValue(value)
            else { return "an attribute is not a key-value pair" }
        }
        return nil
    }

    private static func isValue(_ value: VendorJSON) -> Bool {
        guard let members = value.members, members.count <= 1 else { return false }
        guard let (type, content) = members.first else { return true }
        switch type {
        case "stringValue": return content.text != nil
        case "boolValue":
            if case .boolean = content { return true }
            return false
        case "intValue": return content.text.flatMap { Int64($0) } != nil
        case "doubleValue": return content.number != nil
        case "arrayValue": return (content["values"]?.elements ?? []).allSatisfy(isValue)
        case "kvlistValue":
            return (content["values"]?.elements ?? []).allSatisfy { member in
                member["key"]?.text != nil && member["value"].map(isValue) == true
            }
        default: return false
        }
    }
}
