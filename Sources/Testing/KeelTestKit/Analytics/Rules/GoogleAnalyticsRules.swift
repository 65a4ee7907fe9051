#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension AnalyticsServerDouble {
    /// Google's Measurement Protocol: `POST /mp/collect`, for a web or an app stream.
    ///
    /// Like Google, it answers every such request with 204. It drops invalid events and reports them in ``refusals``; a
    /// duplicate counts twice.
    ///
    /// - Parameters:
    ///   - stream: The measurement ID, `G-…`, or the ID of the Firebase app.
    ///   - apiSecret: The accepted secret.
    ///   - now: Returns the server's time.
    /// - Returns: The double.
    public static func googleAnalytics(
        stream: String,
        apiSecret: String,
        now: @escaping @Sendable () -> Date = { Date() }
    ) -> AnalyticsServerDouble {
        AnalyticsServerDouble(GoogleAnalyticsRules(stream: stream, apiSecret: apiSecret, now: now))
    }
}

private struct GoogleAnalyticsRules: VendorRules {
    let stream: String
    let apiSecret: String
    let now: @Sendable () -> Date

    func judge(_ request: VendorRequest) -> VendorVerdict {
        guard request.method == "POST", request.path == "/mp/collect" else {
            return .refused(404, "no such path")
        }
        if let fault = requestFault(request) { return .refused(204, fault) }
        guard let json = request.json, let events = json["events"]?.elements else {
            return .refused(204, "the body is not JSON with events")
        }
        if let fault = bodyFault(json) { return .refused(204, fault) }
        var verdict = VendorVerdict(status: 204)
        for event in events {
            if let fault = fault(in: event) {
                verdict.refusals.append(fault)
                continue
            }
            let subject = (json["user_id"] ?? json["client_id"] ?? json["app_instance_id"])?.text
            verdict.counted.append(
                VendorVerdict.Counted(
                    event: .init(
                        name: event["name"]?.text ?? "",
                        id: "",
                        subject: subject ?? "",
                        json: event.compact
                    ),
                    key: ""
                )
            )
        }
        return verdict
    }

    // MARK: The request

    private func requestFault(_ request: VendorRequest) -> String? {
        guard request.body.count < 130_000 else { return "the body has 130 kB or more" }
        guard request.query["api_secret"] == apiSecret else { return "the API secret is wrong" }
        let isWeb = stream.hasPrefix("G-")
        guard request.query[isWeb ? "measurement_id" : "firebase_app_id"] == stream else {
            return "the stream is unknown"
        }
        return nil
    }

    private func bodyFault(_ json: VendorJSON) -> String? {
        if stream.hasPrefix("G-") {
            guard json["client_id"]?.text?.isEmpty == false else { return "no client_id" }
        } else {
            guard let id = json["app_instance_id"]?.text, id.utf8.count == 32,
                id.allSatisfy(\.isHexDigit)
            else { return "app_instance_id is not 32 hexadecimal digits" }
        }
        if let user = json["user_id"], !(1...256).contains(user.text?.count ?? 0) {
            return "user_id is not 1 to 256 characters"
        }
        guard (1...25).contains(json["events"]?.elements?.count ?? 0) else {
            return "not 1 to 25 events"
        }
        let properties = json["user_properties"]?.members ?? [:]
        guard properties.count <= 25 else { return "more than 25 user properties" }
        for (name, property) in properties {
            guard Self.isName(name, upTo: 24),
                !["first_open_time", "first_visit_time", "user_id"].contains(name)
            else { return "the user property '\(name)' has no valid name" }
            switch property["value"] {
            case .text(let text) where text.count <= 36: continue
            case .integer, .number, nil: continue
            default: return "the user property '\(name)' has no valid value"
            }
        }
        return nil
    }

    // MARK: Events

    private static let reserved: Set<String> = [
        "ad_click", "ad_exposure", "app_exception", "app_remove", "app_update", "error",
        "first_open", "first_visit", "in_app_purchase", "notification_open",
        "notification_receive", "os_update", "session_start", "user_engagement",
    ]

    private static func isName(_ name: String, upTo limit: Int) -> Bool {
        guard (1...limit).contains(name.count), let first = name.first, first.isLetter,
            name.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") })
        else { return false }
        return !["google_", "ga_", "firebase_"].contains(where: name.hasPrefix)
    }

    private func fault(in event: VendorJSON) -> String? {
        guard let name = event["name"]?.text, Self.isName(name, upTo: 40),
            !Self.reserved.contains(name)
        else { return "the event has no valid name" }
        if let time = event["timestamp_micros"] {
            let age = now().timeIntervalSince1970 - Double(time.integer ?? 0) / 1_000_000
            guard age <= 72 * 3600, age > -60 else { return "the event is older than 72 hours" }
        }
        let parameters = event["params"]?.members ?? [:]
        guard parameters.count <= 25 else { return "more than 25 parameters" }
        for (name, value) in parameters {
            guard Self.isName(name, upTo: 40) else {
                return "the parameter '\(name)' has no valid name"
            }
            if name == "items" {
                let items = value.elements ?? []
                guard items.count <= 200, !items.isEmpty,
                    items.allSatisfy({ $0.members != nil && $0.depth == 1 })
                else { return "items are not up to 200 flat objects" }
                continue
            }
            switch value {
            case .text(let text) where text.count <= 100: continue
            case .integer, .number: continue
            default: return "the parameter '\(name)' has no valid value"
            }
        }
        if let session = parameters["session_id"] {
            guard session.integer != nil || session.text?.allSatisfy(\.isWholeNumber) == true else {
                return "session_id is not digits"
            }
        }
        return nil
    }
}
