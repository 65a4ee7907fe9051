import HTTPTypes

extension SuiteRun {
    private func require(_ condition: Bool, _ isSetup: Bool, _ reason: String) throws {
        guard !condition else { return }
        throw Failure(isSetup: isSetup, reason: reason)
    }

    func check(_ response: Response, _ index: Int) throws {
        let request = test.requests[index]
        let number = index + 1
        let count = Self.field("server-request-count", in: response.fields).flatMap { Int($0) }
        let typeIsSetup = request.isSetup("expected_type")
        if let numbers = Self.field("request-numbers", in: response.fields) {
            let parts = numbers.split(separator: " ")
            try require(Set(parts).count == parts.count, true, "retry")
        }
        switch request.expectedType {
        case "cached" where !(response.status == 304 && count == nil):
            try require(
                count.map { $0 < number } ?? false,
                typeIsSetup,
                "Response \(number) does not come from the cache."
            )
        case "not_cached":
            try require(count == number, typeIsSetup, "Response \(number) comes from the cache.")
        default: break
        }
        try checkStatus(response, request, number)
        try checkFields(response, request, number)
        try checkBody(response, request)
    }

    private func checkStatus(
        _ response: Response,
        _ request: CacheCase.Request,
        _ number: Int
    ) throws {
        let reason = "Response \(number) has status \(response.status)."
        if request.members.contains("expected_status") {
            guard let expected = request.expectedStatus?.number else { return }
            try require(response.status == expected, request.isSetup("expected_status"), reason)
        } else if let given = request.responseStatus?.first?.number {
            try require(response.status == given, true, reason)
        } else if response.status == 999 {
            try require(
                false,
                request.isSetup("expected_type"),
                "Request \(number) should have been conditional."
            )
        } else {
            try require(response.status == 200, true, reason)
        }
    }

    private func checkFields(
        _ response: Response,
        _ request: CacheCase.Request,
        _ number: Int
    ) throws {
        let isSetup = request.isSetup("expected_response_headers")
        for entry in request.expectedResponseHeaders ?? [] {
            let name = entry.text ?? entry.list.first?.text ?? ""
            let text = Self.field(name, in: response.fields)
            let reason = "Field \(name) of response \(number) is \(text ?? "absent")."
            let parts = entry.list
            if parts.isEmpty {
                try require(text != nil, isSetup, reason)
            } else if parts.count > 2, parts[1].text == ">" {
                let limit = parts[2].number ?? Int(parts[2].text ?? "") ?? 0
                try require(text.flatMap { Int($0) }.map { $0 > limit } ?? false, isSetup, reason)
            } else if parts.count > 2 {
                let other = Self.field(parts[2].text ?? "", in: response.fields)
                try require(text == other, isSetup, reason)
            } else {
                let now = Self.field("server-now", in: response.fields).flatMap { Int64($0) } ?? 0
                let base = Self.field("server-base-url", in: response.fields) ?? ""
                let expected = request.fixed(entry, now: now, base: base).text
                try require(text == expected, isSetup, reason)
            }
        }
        for entry in request.expectedResponseHeadersMissing ?? [] {
            // The suite's client looks up named values in a way that never finds one; here the
            // value must really be absent.
            let name = entry.text ?? entry.list.first?.text ?? ""
            let text = Self.field(name, in: response.fields)
            let value = entry.list.count > 1 ? entry.list[1].text : nil
            let isMissing = value.map { !(text ?? "").contains($0) } ?? (text == nil)
            try require(
                isMissing || (value != nil && text == nil),
                request.isSetup("expected_response_headers_missing"),
                "Response \(number) has the field \(name)."
            )
        }
    }

    private func checkBody(_ response: Response, _ request: CacheCase.Request) throws {
        guard request.checkBody != false else { return }
        let reason = "The body is \"\(response.text)\"."
        if request.members.contains("expected_response_text") {
            guard let expected = request.expectedResponseText?.text else { return }
            try require(
                response.text == expected,
                request.isSetup("expected_response_text"),
                reason
            )
        } else if let expected = request.responseBody?.text {
            try require(response.text == expected, true, reason)
        } else if ![204, 304].contains(response.status), request.requestMethod != "HEAD",
            !(response.status == 502 && request.disconnect == true)
        {
            try require(response.text == token, true, reason)
        }
    }

    func checkOrigin(_ responses: [Response]) throws {
        var position = 0
        for index in test.requests.indices {
            let request = test.requests[index]
            let number = index + 1
            let seen = origin.seen.indices.contains(position) ? origin.seen[position] : nil
            let isSetup = request.isSetup("expected_type")
            var conditions: [String] = []
            switch request.expectedType {
            case "cached": continue
            case "not_cached":
                try require(seen?.number == number, isSetup, "Request \(number) did not arrive.")
            case "etag_validated": conditions = ["if-none-match"]
            case "lm_validated": conditions = ["if-modified-since"]
            default: break
            }
            position += 1
            for condition in conditions {
                try require(
                    seen.map { Self.field(condition, in: $0.fields) != nil } ?? false,
                    isSetup,
                    "Request \(number) has no \(condition)."
                )
            }
            try checkRequest(request, number, seen)
            for (name, text) in seen?.promised ?? [] where seen?.number == number {
                let received = Self.field(name, in: responses[index].fields)
                if request.disconnect == true { continue }
                try require(received == text, true, "Response \(number) changed \(name).")
            }
        }
    }

    private func checkRequest(
        _ request: CacheCase.Request,
        _ number: Int,
        _ seen: SuiteOrigin.Seen?
    ) throws {
        for entry in request.expectedRequestHeaders ?? [] {
            let name = entry.text ?? entry.list.first?.text ?? ""
            let text = seen.flatMap { Self.field(name, in: $0.fields) }
            let expected = entry.list.count > 1 ? entry.list[1].text : nil
            try require(
                expected.map { $0 == text } ?? (text != nil),
                request.isSetup("expected_request_headers"),
                "Field \(name) of request \(number) is \(text ?? "absent")."
            )
        }
        for entry in request.expectedRequestHeadersMissing ?? [] {
            let name = entry.text ?? entry.list.first?.text ?? ""
            let text = seen.flatMap { Self.field(name, in: $0.fields) }
            let unwanted = entry.list.count > 1 ? entry.list[1].text : nil
            try require(
                unwanted.map { $0 != text } ?? (text == nil),
                request.isSetup("expected_request_headers_missing"),
                "Request \(number) has the field \(name)."
            )
        }
        if let method = request.expectedMethod {
            try require(
                seen?.method == method,
                request.isSetup("expected_method"),
                "Request \(number) has another method."
            )
        }
    }
}
