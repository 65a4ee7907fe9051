/// Responds to requests from a catalogue and an account book, independent of sockets.
///
/// | request | response |
/// |---|---|
/// | `GET /restaurants?limit=&after=` | `{"restaurants": […], "next": "id of the last"}` |
/// | `GET /restaurants/search?q=&limit=` | `{"restaurants": […], "next": null}` |
/// | `GET /restaurants/{id}` | the restaurant |
///
/// All these responses have an `ETag`, and `If-None-Match` is answered with 304. ``AccountBook`` and ``ChoiceBook``
/// describe the other requests.
struct APIResponder: Sendable {
    static let usualLimit = 100
    static let mostLimit = 1000

    let catalogue: RestaurantCatalogue
    let accounts: AccountBook
    let hiccups: Hiccups?
    let choices = ChoiceBook()
    /// Receives the outcome of each write, on one line.
    let log: @Sendable (String) -> Void

    init(
        catalogue: RestaurantCatalogue,
        accounts: AccountBook = AccountBook(),
        hiccups: Hiccups? = nil,
        log: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        self.catalogue = catalogue
        self.accounts = accounts
        self.hiccups = hiccups
        self.log = log
    }

    /// The catalogue never changes, so its fingerprint is the entity tag of all its responses.
    private var version: String { "\"\(catalogue.fingerprint)\"" }

    func answer(_ request: APIRequest) -> APIResponse {
        if let failure = hiccups?.failure(of: request) { return failure }
        return switch (request.method, request.path) {
        case ("POST", ["auth", "login"]): accounts.logIn(request)
        case ("POST", ["auth", "refresh"]): accounts.refresh(request)
        case ("POST", ["auth", "logout"]): accounts.logOut(request)
        case ("GET", ["me"]): accounts.currentUser(request)
        case (_, let path) where path.starts(with: ["users", "me"]): write(request)
        case ("GET", _): entries(request)
        default: .failure(405, "this method is not allowed")
        }
    }

    private func write(_ request: APIRequest) -> APIResponse {
        guard let user = accounts.account(of: request)?.id else { return AccountBook.badToken }
        var (response, effect) = choices.answer(request, of: user, in: catalogue)
        if effect == .applied { response.isLost = hiccups?.losesAnswer(to: request) ?? false }
        let name = ([request.method] + request.path.dropFirst(2)).joined(separator: " ")
        let outcome =
            switch effect {
            case .applied: response.isLost ? "applied, but the answer is lost" : "applied"
            case .repeated: "not applied again: it has a known key"
            case .refused: "refused with \(response.status)"
            }
        log("\(user): \(name): \(outcome)")
        return response
    }

    private func entries(_ request: APIRequest) -> APIResponse {
        var response =
            switch request.path {
            case ["restaurants"]: list(request)
            case ["restaurants", "search"]: search(request)
            case _ where request.path.count == 2 && request.path[0] == "restaurants":
                restaurant(request.path[1])
            default: APIResponse.failure(404, "there is nothing at this address")
            }
        if response.status == 200, request.knownVersion == response.version {
            response.status = 304
            response.body = []
        }
        return response
    }

    private func list(_ request: APIRequest) -> APIResponse {
        guard let limit = limit(of: request) else {
            return .failure(400, "limit must be a number from 1 to 1000")
        }
        guard let page = catalogue.page(after: request.query["after"], limit: limit) else {
            return .failure(400, "after must be the id of a restaurant")
        }
        let next = page.endIndex < catalogue.entries.endIndex ? page.last?.id : nil
        return .json(Self.body(of: page, next: next), version: version)
    }

    private func search(_ request: APIRequest) -> APIResponse {
        guard let limit = limit(of: request) else {
            return .failure(400, "limit must be a number from 1 to 1000")
        }
        guard let text = request.query["q"], !text.isEmpty else {
            return .failure(400, "q must hold the words to search for")
        }
        let found = catalogue.search(text, limit: limit)
        return .json(Self.body(of: found[...], next: nil), version: version)
    }

    private func restaurant(_ id: String) -> APIResponse {
        guard let entry = catalogue.entry(id) else {
            return .failure(404, "there is no such restaurant")
        }
        return .json(entry.json, version: version)
    }

    private func limit(of request: APIRequest) -> Int? {
        guard let text = request.query["limit"] else { return Self.usualLimit }
        return Int(text).flatMap { (1...Self.mostLimit).contains($0) ? $0 : nil }
    }

    /// Concatenates entries without decoding them.
    private static func body(
        of entries: ArraySlice<RestaurantCatalogue.Entry>,
        next: String?
    ) -> [UInt8] {
        var body = Array(#"{"restaurants":["#.utf8)
        for (index, entry) in entries.enumerated() {
            if index > 0 { body.append(UInt8(ascii: ",")) }
            body += entry.json
        }
        body += Array(#"],"next":\#(next.map(quoted) ?? "null")}"#.utf8)
        return body
    }

    private static func quoted(_ text: String) -> String {
        let escaped = text.unicodeScalars.map { scalar in
            switch scalar {
            case "\"": "\\\""
            case "\\": "\\\\"
            case _ where scalar.value < 0x20:
                "\\u00" + (scalar.value < 16 ? "0" : "") + String(scalar.value, radix: 16)
            default: String(scalar)
            }
        }
        return "\"\(escaped.joined())\""
    }
}
