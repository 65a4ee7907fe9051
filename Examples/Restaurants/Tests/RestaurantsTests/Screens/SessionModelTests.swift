import KeelDependencies
import KeelTestKit
import RestaurantsDomain
import RestaurantsUI
import Testing

@MainActor
@Suite("Sign-in screen", .timeLimit(.minutes(1)))
struct SessionModelTests {
    private let repositories = SampleRepositories()
    private let model: SessionModel

    init() {
        model = withDependencies { [repositories] in
            $0.restaurants = repositories.useCases
        } operation: {
            SessionModel()
        }
    }

    private func fill(_ email: String = "ada@example.com", _ password: String = "engine") {
        (model.email, model.password) = (email, password)
    }

    @Test("A user who signs in becomes the current user, and the password is cleared")
    func signIn() async {
        #expect(!model.canSignIn && model.userID == .onThisDevice)
        fill()
        #expect(model.canSignIn)
        await model.signIn()
        #expect(model.user?.name == "Ada" && model.userID.name == "ada")
        #expect(model.email == "" && model.password == "" && model.failure == nil)
        await model.signOut()
        #expect(model.user == nil && model.userID == .onThisDevice)
    }

    @Test("A second request does not start while one is in progress")
    func busy() async {
        let clock = TestClock()
        repositories.pause { try? await clock.sleep(for: .seconds(1)) }
        fill()
        async let signedIn: Void = model.signIn()
        await clock.waitForSleepers()
        #expect(model.isBusy && !model.canSignIn && model.password == "")
        await model.signIn()
        await model.signOut()
        await clock.advance(by: .seconds(1))
        await signedIn
        #expect(!model.isBusy && repositories.calls == ["signIn"])
    }

    @Test(
        "An error is shown, and the address is kept for correction",
        arguments: [("ada@example.com", "motor", "wrong"), ("ada", "engine", "“ada”")]
    )
    func refused(_ email: String, _ password: String, _ word: String) async {
        fill(email, password)
        await model.signIn()
        #expect(model.failure?.title.contains(word) == true)
        #expect(model.user == nil && model.email == email && model.password == "")
    }

    @Test("A signed-in user is restored, and a failure restores nobody")
    func restored() async {
        fill()
        await model.signIn()
        let next = withDependencies { [repositories] in
            $0.restaurants = repositories.useCases
        } operation: {
            SessionModel()
        }
        await next.restore()
        #expect(next.userID.name == "ada")
        repositories.fail(DomainError(.storageFailed))
        await next.signOut()
        #expect(next.user != nil && next.failure != nil)
        await next.restore()
        #expect(next.user == nil)
    }

    @Test("Without use cases, a preview has samples and an app reports what is missing")
    func unset() async throws {
        #expect(try await RestaurantsDependency.previewValue.list().count == 3)
        let error = await #expect(throws: DomainError.self) {
            try await RestaurantsDependency.liveValue.list()
        }
        #expect(error?.kind == .storageFailed)
    }
}
