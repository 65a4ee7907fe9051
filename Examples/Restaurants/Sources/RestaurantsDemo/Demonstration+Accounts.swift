import Foundation

/// The steps with a signed-in user, and the app's log of its calls.
extension Demonstration {
    private var email: String { "ada@example.com" }

    func signIn() async throws {
        let outcome = try await app(.a, as: nil, "login", email, password: "engine")
        try expect(outcome.output == ["Signed in as Ada Lovelace (ada)."], "ada is signed in")
    }

    /// Words that the app's stored session would contain if it were not encrypted.
    func checkSecrets() async throws {
        let words = ["accessToken", "refreshToken", "access_token", email].map { Array($0.utf8) }
        var sizes: [String: Int] = [:]
        for file in try setting.files() where !file.hasSuffix(".out") && !file.hasSuffix(".err") {
            let bytes = Array(try Data(contentsOf: setting.folder.appending(path: file)))
            sizes[file] = bytes.count
            for word in words {
                try expect(bytes.firstRange(of: word) == nil, "\(file) does not tell of a session")
            }
        }
        let sealed = sizes.filter { $0.key.hasPrefix("secrets/") && $0.value > 0 }
        try expect(!sealed.isEmpty, "the session is in the encrypted file")
        try expect(sizes.keys.contains { $0.hasSuffix(".sqlite") }, "the store was looked at")
        note("looked through \(sizes.count) files for the words of a session, byte by byte")
    }

    func refuseSignIn() async throws {
        let outcome = try await app(.a, as: nil, "login", email, password: "motor", status: 1)
        let first = outcome.errors.first ?? ""
        try expect(first.contains("(wrongPassword)"), "an error of the app’s own kind")
        try expect(
            outcome.errors.contains { $0.contains("sign in again") },
            "advice on what to do about it"
        )
        try expect(
            !outcome.errors.contains { $0.contains("motor") },
            "no password in what the app says"
        )
    }

    func renew() async throws {
        let outcome = try await app(.b, as: nil, "whoami", "--log")
        try expect(
            outcome.output == ["Ada Lovelace (ada), \(email)"],
            "B, on the same file, has the same user"
        )
        try expect(
            outcome.errors.filter { $0.hasSuffix("session: credentials renewed") }.count == 1,
            "the log has one renewal"
        )
    }

    func showTwice() async throws {
        let outcome = try await app(.b, "show", chosen.id, chosen.id, "--log")
        let title = "\(chosen.name)  \(chosen.id)"
        try expect(outcome.output.filter { $0 == title }.count == 2, "it is shown twice")
        let call = "GET /restaurants/\(chosen.id)"
        try expect(
            outcome.errors.filter { $0.contains("\(call) retried after") }.count == 1,
            "the exchange that both shared was repeated once"
        )
        try expect(
            outcome.errors.filter { $0.hasSuffix("\(call) answered with 200") }.count == 1,
            "it was one exchange"
        )
    }

    func signOut() async throws {
        let own = try await app(.a, as: nil, "favourites").output
        try expect(
            own.last == "3 favourites of ada.",
            "without a name, the favourites are those of the signed-in user"
        )
        let outcome = try await app(.a, as: nil, "logout")
        try expect(outcome.output == ["Signed out Ada Lovelace (ada)."], "ada is signed out")
        let after = try await app(.b, as: nil, "whoami", status: 1)
        try expect(
            after.errors.first?.contains("(notSignedIn)") == true,
            "B, on the same file, knows it"
        )
    }
}
