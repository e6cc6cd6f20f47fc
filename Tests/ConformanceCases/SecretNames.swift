// SPDX-License-Identifier: MIT

/// Names of secrets and of ordinary values: of fields, query items, form fields, members of JSON, and in text.
package enum SecretNames {
    /// Real names after the products or documents that define them: on 2026-11-27, each was looked up in stored copies
    /// of the documentation or of public code for the product, and replaced if neither had it.
    private static let sources = """
        # detect-secrets, plugins/keyword.py, DENYLIST
        apikey api_key appkey app_key authkey auth_key servicekey service_key applicationkey application_key accountkey
        account_key dbkey db_key databasekey database_key clientkey client_key aws_secret_access_key db_pass password
        passwd pass pwd private_key privatekey priv_key privkey secret secrete secreto keypass token contrasena
        # Sentry for Python, scrubber.py, DEFAULT_DENYLIST
        auth credentials mysql_pwd session csrftoken sessionid x_csrftoken set_cookie cookie authorization x_api_key
        aiohttp_session connect.sid csrf_token csrf _csrf _csrf_token PHPSESSID _session user_session _xsrf XSRF-TOKEN
        # Ruby on Rails, config/initializers/filter_parameter_logging.rb
        otp ssn cvv cvc
        # RFC 4918, 5849, 6265, 6749, 7521, 7592, 7615, 7636, 8628, 8693, 9110, 9421, 9449 and OpenID Connect
        access_token refresh_token client_secret code_verifier device_code user_code client_assertion assertion
        subject_token actor_token id_token id_token_hint logout_token registration_access_token oauth_verifier
        Authorization Proxy-Authorization Authentication-Info Proxy-Authentication-Info Cookie Set-Cookie DPoP
        Lock-Token Signature
        # OWASP, Session Management Cheat Sheet; vendors' session cookies
        JSESSIONID CFTOKEN ASP.NET_SessionId LtpaToken2 iPlanetDirectoryPro laravel_session rack.session PLAY_SESSION
        grafana_session PVEAuthCookie CSRFPreventionToken SMSESSION .AspNet.ApplicationCookie
        # Cross-site request forgery: Django, Rails, Laravel, ASP.NET, Angular, SAP, Jenkins, Kibana, Qlik, Nexus
        csrfmiddlewaretoken X-CSRFToken authenticity_token X-CSRF-Token X-XSRF-TOKEN _token __RequestVerificationToken
        Jenkins-Crumb kbn-xsrf qlik-csrf-token NX-ANTI-CSRF-TOKEN csrf-token
        # AWS: Signature Version 4, S3, STS, instance metadata, Cognito
        X-Amz-Signature X-Amz-Credential X-Amz-Security-Token x-amz-server-side-encryption-customer-key AWSAccessKeyId
        SecretAccessKey SessionToken X-aws-ec2-metadata-token AccessToken IdToken RefreshToken SECRET_HASH SMS_MFA_CODE
        SOFTWARE_TOKEN_MFA_CODE EMAIL_OTP_CODE NEW_PASSWORD PASSWORD_CLAIM_SIGNATURE PASSWORD_CLAIM_SECRET_BLOCK
        DEVICE_KEY ConfirmationCode PreviousPassword ProposedPassword SecretCode TemporaryPassword
        # Microsoft Azure and Graph
        Ocp-Apim-Subscription-Key api-key x-functions-key x-ms-authorization-auxiliary aeg-sas-key aeg-sas-token
        X-ZUMO-AUTH X-MS-TOKEN-AAD-ACCESS-TOKEN X-MS-TOKEN-AAD-ID-TOKEN SharedAccessKey SharedAccessSignature sig
        connectionString secretText x-ms-encryption-key
        # Google Cloud, Firebase
        X-Goog-Api-Key X-Goog-Signature X-Goog-Credential X-Goog-IAM-Authorization-Token X-Goog-Channel-Token
        X-Serverless-Authorization X-Goog-IAP-JWT-Assertion idToken mfaPendingCredential oobCode
        # GitHub, Bitbucket, GitLab, Gitea, CircleCI, Buildkite
        X-GitHub-OTP X-Hub-Signature X-Hub-Signature-256 PRIVATE-TOKEN JOB-TOKEN Deploy-Token X-Gitlab-Token
        private_token job_token runners_token X-Gitea-Signature X-Gitea-OTP Circle-Token X-Buildkite-Token
        X-Buildkite-Signature
        # Meta, Lark, Apple, DingTalk, WeChat, Alipay, TikTok, Telegram, Discord, Slack, LINE, Zoom
        appsecret_proof fb_exchange_token app_secret Music-User-Token identityToken authorizationCode
        appsecret js_code session_key paySign sign auth_code app_auth_token X-Telegram-Bot-Api-Secret-Token
        X-Signature-Ed25519 X-Slack-Signature signing_secret bot_access_token X-Line-Signature x-zm-signature
        # Stripe, Square, Shopify, Twilio, SendGrid, Mandrill, Razorpay, Paystack, Checkout.com, Adyen, PayPal,
        # Flutterwave, Authorize.Net, Mastercard Payment Gateway
        Stripe-Signature x-square-hmacsha256-signature X-Shopify-Access-Token X-Shopify-Hmac-Sha256
        X-Shopify-Storefront-Access-Token X-Twilio-Signature auth_token X-Twilio-Email-Event-Webhook-Signature
        X-Mandrill-Signature X-Razorpay-Signature key_secret x-paystack-signature cko-signature hmacSignature
        PAYPAL-TRANSMISSION-SIG card_number pin cardNumber x_card_num x_card_code securityCode
        # Webhooks of Linear, Typeform, HubSpot, Box, Dropbox, DocuSign, Asana, Zendesk, Twitch, AfterShip, Oracle
        # Commerce Cloud, Cal.com, Onfido, and of the specification "Standard Webhooks"
        Linear-Signature Typeform-Signature X-HubSpot-Signature-v3 BOX-SIGNATURE-PRIMARY BOX-SIGNATURE-SECONDARY
        X-Dropbox-Signature X-DocuSign-Signature-1 X-Hook-Secret X-Hook-Signature X-Zendesk-Webhook-Signature
        Twitch-Eventsub-Message-Signature as-signature-hmac-sha256 X-Oracle-CC-WebHook-Signature webhook-signature
        X-Cal-Signature-256 X-SHA2-Signature
        # Exchanges: Coinbase, Kraken, Binance, OKX, KuCoin, Bybit, Bitfinex, Bitget, Gate, Gemini
        CB-ACCESS-KEY CB-ACCESS-SIGN CB-ACCESS-PASSPHRASE API-Key API-Sign X-MBX-APIKEY OK-ACCESS-KEY OK-ACCESS-SIGN
        OK-ACCESS-PASSPHRASE KC-API-KEY KC-API-SIGN KC-API-PASSPHRASE KC-API-PARTNER-SIGN X-BAPI-API-KEY X-BAPI-SIGN
        bfx-apikey bfx-signature ACCESS-KEY ACCESS-SIGN ACCESS-PASSPHRASE SIGN X-GEMINI-APIKEY X-GEMINI-SIGNATURE
        # HashiCorp, Datadog, New Relic, Sentry, Elastic, Docker, npm, OpenStack, Cloudflare, HubSpot, ElevenLabs,
        # RapidAPI, Algolia, Plex, Parse, Figma, Riot Games, PlayFab
        X-Vault-Token client_token secret_id X-Consul-Token X-Nomad-Token DD-API-KEY DD-APPLICATION-KEY X-Insert-Key
        X-Query-Key License-Key X-Sentry-Auth sentry_key sentry_secret dsn es-secondary-authorization X-Registry-Auth
        identitytoken registrytoken npm-otp _authToken _auth X-Auth-Token X-Subject-Token X-Service-Token
        X-Storage-Token temp_url_sig X-Auth-Key X-Auth-User-Service-Key CF-Access-Client-Secret CF-Access-Jwt-Assertion
        hapikey xi-api-key X-RapidAPI-Key X-RapidAPI-Proxy-Secret X-Algolia-API-Key X-Plex-Token X-Parse-Session-Token
        X-Figma-Token X-Riot-Token X-SecretKey X-EntityToken
        # Auth0, Okta, MediaWiki, SAML, Active Directory, LDAP, Bitwarden
        mfa_token oob_code binding_code recovery_code sessionToken stateToken passCode lgpassword lgtoken SAMLResponse
        SAMLRequest SAMLart unicodePwd userPassword totp
        # PostgreSQL, MySQL, MariaDB, Ansible and AWX, wpa_supplicant, hostapd, Kubernetes
        sslpassword PGPASSWORD MYSQL_PWD keyStorePassword trustStorePassword ansible_password become_pass passphrase
        vault_password psk wpa_psk token-secret
        """

    package static let documented = Set(
        sources.split(separator: "\n").filter { !$0.hasPrefix("#") }.flatMap { $0.split(separator: " ") }.map(
            String.init))

    private static let words: [String] = [
        "token", "accessToken", "secret", "password", "passwd", "passphrase", "apiKey", "credential", "signature",
        "jwt",
        "csrf", "otp", "cvv", "cardNumber", "sessionId", "connectionString", "verificationCode", "pinCode",
    ]

    /// Words with what surrounds them: plurals, numbers, additions, brackets, and other spellings.
    private static let generated: [String] = words.flatMap { word in
        let snake = word.reduce(into: "") { $0 += ($1.isUppercase ? "_" : "") + $1.lowercased() }
        return [
            word + "s", word + "1", "new_" + snake, snake + "_text", word + "Value", "user[\(snake)]", "x." + snake,
            "X-"
                + snake.split(separator: "_").map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined(separator: "-"),
            snake.uppercased() + "_2",
            "old" + word.prefix(1).uppercased() + word.dropFirst(), snake + "_confirmation", snake + "-v2",
            word.lowercased() + "_hash", "my-" + snake + "-raw",
        ]
    }

    /// All names that are secret, wherever they occur.
    package static let secret = documented.union(generated).sorted()

    /// Names whose values must stay readable, also where they resemble secrets.
    package static let ordinary: [String] = """
        Accept Accept-Language Age Allow Alt-Svc Cache-Control Content-Type Content-Length Content-Encoding Date ETag
        Expires Host If-Match If-None-Match Keep-Alive Last-Modified Location Origin Pragma Range Referer Retry-After
        Server Server-Timing Strict-Transport-Security Trailer Transfer-Encoding Upgrade User-Agent Vary Via
        WWW-Authenticate Proxy-Authenticate X-Request-ID X-RateLimit-Remaining X-Frame-Options X-Total-Count
        Access-Control-Allow-Credentials Sec-WebSocket-Key Sec-WebSocket-Accept Sec-WebSocket-Version Idempotency-Key
        Surrogate-Key X-Cache-Key Last-Event-ID traceparent X-Amz-Date X-Amz-Algorithm X-Amz-Expires
        X-Signature-Timestamp X-Error-Code x-ratelimit-remaining-tokens x-ratelimit-limit-tokens
        anthropic-ratelimit-tokens-remaining
        author authors authority authored authorName pinned pinnedAt spinning signal signals signed assigned design
        signup keyboard keyword keywords keyframes monkey donkey turkey hockey whiskey passport passenger passive
        compass bypass secretary secretariat tokenize tokenizer tokenized cookieless encode decode unicode barcode
        geocode opcode compassion possession obsession zodiacSign
        status_code statusCode country_code countryCode zip_code zipcode postal_code error_code errorCode
        language_code currency_code area_code exit_code response_code reason_code product_code state_code
        sort_key cache_key cacheKey primary_key foreign_key partition_key public_key group_key row_key objectKey
        key_count keys max_tokens maxTokens total_tokens totalTokens prompt_tokens completion_tokens input_tokens
        output_tokens max_new_tokens cache_read_input_tokens reasoning_tokens promptTokenCount tokens_used
        tokens_per_minute page_token pageToken next_page_token nextPageToken nextToken continuation_token
        token_type tokenType token_endpoint token_url token_count expires_in password_changed_at password_policy
        secret_name session_count sessionCount session_state credential_type auth_type auth_time auth_method oauth_nonce
        code_challenge code_challenge_method grant_type response_type client_id key_id kid name title description
        id uuid email page limit offset cursor sort order filter query q search lat lon created_at updated_at
        """.split(whereSeparator: \.isWhitespace).map(String.init)
}
