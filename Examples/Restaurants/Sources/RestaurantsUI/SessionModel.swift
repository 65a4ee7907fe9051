internal import KeelDependencies
public import Observation
public import RestaurantsDomain

/// Who is signed in, and the form to sign in; all screens of an app share one.
@MainActor
@Observable
public final class SessionModel {
    /// The user who is signed in.
    public private(set) var user: User?
    /// Whether the service is being asked.
    public private(set) var isBusy = false
    /// Why signing in or out did not work.
    public private(set) var failure: ScreenFailure?
    /// The e-mail address as typed.
    public var email = ""
    /// The password as typed, cleared once it has been used.
    public var password = ""

    /// The use cases, read once, so that all screens have the same.
    let useCases: UseCases

    /// Creates the model on the dependency `restaurants`; nobody is signed in before ``restore()``.
    public init() {
        @Dependency(\.restaurants) var useCases
        self.useCases = useCases
    }

    /// Whose favourites and ratings the screens show.
    public var userID: UserID { user?.id ?? .onThisDevice }

    /// Whether there is enough to sign in with.
    public var canSignIn: Bool { !isBusy && !email.isEmpty && !password.isEmpty }

    /// Finds out who is signed in.
    public func restore() async {
        // Nobody is a good answer, and so is a service that cannot be asked just now.
        user = try? await useCases.showCurrentUser()
    }

    /// Signs in with what was typed.
    public func signIn() async {
        guard canSignIn else { return }
        (isBusy, failure) = (true, nil)
        defer { isBusy = false }
        let (address, word) = (email, password)
        password = ""
        do throws(DomainError) {
            user = try await useCases.signIn(address, password: word)
            email = ""
        } catch {
            failure = ScreenFailure(error)
        }
    }

    /// Signs out.
    public func signOut() async {
        guard !isBusy else { return }
        (isBusy, failure) = (true, nil)
        defer { isBusy = false }
        do throws(DomainError) {
            try await useCases.signOut()
            user = nil
        } catch {
            failure = ScreenFailure(error)
        }
    }
}
