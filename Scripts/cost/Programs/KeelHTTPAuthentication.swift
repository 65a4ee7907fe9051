import KeelHTTPAuthentication

let store = InMemoryCredentialStore<BearerCredentials>()
print(await store.load() == nil)
