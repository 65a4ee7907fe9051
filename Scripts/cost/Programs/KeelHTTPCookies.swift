import KeelHTTPCookies

print(CookieJar())
